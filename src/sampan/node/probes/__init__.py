"""Probes: how the agent finds out how containers are."""
