"""The Network operator: declared networks become real ones in OpenStack Neutron."""
