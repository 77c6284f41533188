"""Sampan: Kubernetes' declarative API in Python."""

__version__ = "0.2.0"
