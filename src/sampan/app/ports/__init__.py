"""Ports of a server: the one of the API, bound before anything else starts, and that of the page alone."""
