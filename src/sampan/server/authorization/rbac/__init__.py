"""RBAC: rights come from roles, and roles from bindings."""
