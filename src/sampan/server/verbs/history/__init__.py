"""History of an object, deleted objects, and the newest writes of a resource.

Not an API of Kubernetes: query parameters of GET, which discovery and OpenAPI do not contain. See
docs/adr/0035-history-by-time-and-size.md.
"""
