"""The default plugins, by the names that they have in Kubernetes."""
