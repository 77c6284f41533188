"""RBAC: bindings grant the rules of roles to subjects."""
