"""Trusted certificates, at every place that verifies one."""
