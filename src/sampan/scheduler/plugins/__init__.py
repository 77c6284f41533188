"""The default plugins, with their names in Kubernetes."""
