"""Reverse proxy to other servers: kubelets, Pods and services.

`Proxy.forward(request, target)` in `forward.py` is the entry point. `target.py` defines targets.
"""
