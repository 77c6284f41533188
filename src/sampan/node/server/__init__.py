"""HTTPS server of a node: the kubelet's API for the Pods of this process."""
