"""Requests to webhooks: the target of a clientConfig, and an HTTPS client for it."""
