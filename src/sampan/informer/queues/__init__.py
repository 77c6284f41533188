"""Queues between a reflector and an informer: the changes, and the two orders in which they are applied."""
