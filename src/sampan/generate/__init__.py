"""Generation of code and manifests from types, and of types from manifests."""
