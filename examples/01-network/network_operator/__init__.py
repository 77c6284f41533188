"""Operator that creates declared networks in OpenStack Neutron."""
