"""Admission of Pods by their node: resources, ports, labels, taints, sysctls, and the pressure on the node."""
