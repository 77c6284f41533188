"""Kubernetes' conformance suite against Sampan on two machines: `make conformance`."""
