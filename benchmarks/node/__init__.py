"""Speed and size of a node with containers."""
