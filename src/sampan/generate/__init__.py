"""Code and manifests from types, and types from manifests."""
