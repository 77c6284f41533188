"""Sampan: Kubernetes' declarative API in Python."""

__version__ = "0.1.0"
