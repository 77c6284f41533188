"""Paths that are no resources: the table of paths, and small pages.

Read `routes.py` first: `Routes` selects the handler of a request. The pages are the list of paths, the version of
Kubernetes, and `/statusz` with `/flagz`. Health, discovery, OpenAPI and metrics have folders.
"""
