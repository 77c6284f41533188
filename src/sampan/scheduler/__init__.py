"""The scheduler: finds a node for every Pod."""
