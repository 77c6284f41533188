"""Admission plug-ins of Kubernetes: one file or folder for each plug-in or pair of plug-ins.

The order of their calls is in `admission/order.py`. Read a small one first, for example `always_pull_images.py`.
Webhooks and CEL policies are in `admission/webhook/` and `admission/policy/`.
"""
