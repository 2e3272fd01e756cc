"""Run code in other processes: isolated calls, worker pools, agent hosts, and their limits."""
