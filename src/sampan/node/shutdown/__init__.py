"""Graceful shutdown of a node: its Pods are stopped in order before the machine shuts down."""
