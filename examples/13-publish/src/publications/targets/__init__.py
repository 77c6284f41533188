"""Targets: systems outside of the cluster in which addresses are published."""
