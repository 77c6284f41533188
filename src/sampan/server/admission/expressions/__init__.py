"""Expressions of webhooks and policies at work: what they are given, and what becomes of their results."""
