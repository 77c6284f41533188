"""Aggregation: APIServices (apiregistration.k8s.io), and group versions that other servers provide."""
