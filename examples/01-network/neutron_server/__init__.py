"""A real OpenStack Neutron on loopback, for the demo and for tests."""
