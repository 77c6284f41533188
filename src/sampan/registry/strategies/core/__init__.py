"""The strategies of the core API group."""
