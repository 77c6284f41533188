"""Network of Pods on a node with containers.

Read `pod_network.py` first. It configures the bridge, routes, forwarding and host ports, unless another program has set
up a network. `resolver.py` and `hosts.py` write the files for names inside a Pod.
"""
