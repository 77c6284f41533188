"""Evaluation of the expressions of webhooks and policies."""
