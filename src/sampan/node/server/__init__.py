"""The HTTPS server of a node: the kubelet's API on the runtimes of this process."""
