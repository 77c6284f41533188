"""Plug-ins of the `sampan` command: executables on PATH whose names begin with `sampan-`, as kubectl has them."""
