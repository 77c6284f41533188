"""Extenders: HTTP services that filter and score Nodes, choose victims and bind Pods, with Kubernetes' protocol."""
