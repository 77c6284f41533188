"""Parts that the controllers of workloads share.

Read `ownership.py` and `pod_control.py` first: whose Pods these are, and how they are created and deleted.
"""
