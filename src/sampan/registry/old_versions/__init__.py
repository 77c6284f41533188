"""Convert stored objects from versions that are no longer served. `Kind.old_versions` has the functions of a kind.

An old cluster's store still has them: Kubernetes rewrites an object only when a client changes it.
"""
