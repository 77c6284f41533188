"""Audit log: an event for each request that the policy selects, written to files and webhooks."""
