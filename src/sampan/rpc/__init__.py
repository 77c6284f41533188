"""gRPC: messages made from descriptors or tables, a client for Unix sockets, and errors with Go's texts.

Used for container runtimes (CRI) and storage drivers (CSI); for etcd and KMS only the messages. Needs the extra `cri`,
`etcd` or `kms`.
"""
