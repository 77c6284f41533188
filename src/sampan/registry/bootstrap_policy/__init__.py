"""The roles and bindings that every cluster has, and how they are kept."""
