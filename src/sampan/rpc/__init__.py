"""gRPC over Unix sockets: messages made from descriptors, and errors with Go's texts.

Used for container runtimes (CRI) and storage drivers (CSI). Needs the extra `cri`.
"""
