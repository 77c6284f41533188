"""Snapshots of volumes: their kinds, the binding of snapshots to contents, and the calls of the driver."""
