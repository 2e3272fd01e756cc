"""Who plays the pairs of a run: this process, a pool of processes, or a cluster."""
