"""Nodes with a real containerd, as a user sees them."""
