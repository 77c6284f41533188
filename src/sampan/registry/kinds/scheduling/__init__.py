"""Kinds of scheduling.k8s.io."""
