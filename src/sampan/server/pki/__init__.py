"""Keys, certificates and kubeconfigs of a server that makes its own."""
