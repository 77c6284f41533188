"""API servers without sockets, and ways to reach them: in the same process, or at an address for other programs."""
