"""Processes of control loops: controllers, scheduler and nodes. They run alone or as the child of `sampan up`."""
