"""Registries of images: mirrors, credentials and TLS from a file, in the form of k3s (`registries.yaml`)."""
