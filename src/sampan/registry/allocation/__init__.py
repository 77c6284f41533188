"""Allocate cluster IPs and node ports to Services.

Allocations are recorded in the store, so that two servers on one store never allocate the same address or port.
"""
