"""Machines that join a cluster as nodes, and leave it."""
