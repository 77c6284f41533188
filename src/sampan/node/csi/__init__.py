"""Volumes of CSI drivers on a node: registration of drivers, mounts, expansion and statistics of volumes."""
