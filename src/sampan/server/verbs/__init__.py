"""Handlers of resource requests: one file for each verb."""
