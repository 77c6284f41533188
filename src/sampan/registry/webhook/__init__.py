"""Calls of webhooks: whom a clientConfig means, and one HTTPS request to it."""
