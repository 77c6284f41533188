"""Volumes of CSI drivers on a node: registration of drivers, mounts, expansion and figures of volumes."""
