"""Node object of an agent: the claim of the node, the content of the object, and its heartbeats.

Read `heartbeats.py` first. `claim.py` keeps other agents away; `content.py` and `host.py` fill the object;
`pod_cidrs.py` and `pod_addresses.py` use the pod CIDRs that it receives.
"""
