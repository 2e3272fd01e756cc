"""Code in other processes: isolated calls, conversations, agent hosts, and their limits."""
