"""Probes: periodic checks of containers."""
