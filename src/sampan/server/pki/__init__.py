"""Keys, certificates and kubeconfigs of a server that creates its own."""
