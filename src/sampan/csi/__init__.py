"""CSI: client of storage drivers, used by nodes, and by the controllers that provision, attach and resize volumes.

It needs the extra `cri`, which installs gRPC.
"""
