"""Plugins of the `sampan` command, as in kubectl: executables on PATH whose names begin with `sampan-`."""
