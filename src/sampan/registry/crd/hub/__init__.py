"""Declarative conversion of custom resources through a hub version."""
