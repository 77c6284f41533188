"""Commands that run a process until it is stopped: a server, or the loops, nodes and proxies next to it."""
