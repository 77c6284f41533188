"""Tunnels of nodes."""
