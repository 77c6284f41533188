"""Processes of control loops: controllers, scheduler and nodes; by themselves, or as the child of `sampan up`."""
