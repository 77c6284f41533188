"""Handlers of resource requests: one file or folder for each verb.

Read `get.py` first, then `list.py` and `create.py`. Each verb gets a `Scope` (`scope.py`): a request with its context.
`write/` has the parts that create, update, patch and delete share, `representations/` the forms of responses.
Subresources with special rules are in `subresources.py`, those that a kubelet serves in `connect/`.
"""
