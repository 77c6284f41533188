"""The client's half of the API: configuration, transport, resources. Works against any Kubernetes."""
