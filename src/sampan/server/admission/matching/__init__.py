"""Matching of requests with webhooks and policies, and conversion of their objects."""
