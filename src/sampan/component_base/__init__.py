"""Base of the built-in components: code that controllers, scheduler, nodes, proxy and DNS share.

Read `context.py` first: what each control loop gets. `resources.py` has the resources as clients need them, `views.py`
partial types of the largest kinds. The rest concerns nodes and their networks: `nftables/`, `netlink.py`, Pod ranges.
"""
