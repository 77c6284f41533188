"""Failures of reconcilers and event functions: delays that they request, events to repeat, and texts for the log."""
