"""Aggregation: group versions that other servers answer, told by APIServices (apiregistration.k8s.io)."""
