"""CSI: client of storage drivers, used by nodes and by the loops that provision, attach and resize volumes.

Needs the extra `cri`, which has gRPC.
"""
