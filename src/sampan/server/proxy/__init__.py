"""The reverse proxy: requests that somebody else answers (kubelets, Pods, services).

`Proxy.forward(request, target)` in `forward.py` is the one way; `target.py` says what a target is.
"""
