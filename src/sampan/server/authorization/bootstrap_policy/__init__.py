"""Roles and bindings that every cluster has, and the step at start that restores them."""
