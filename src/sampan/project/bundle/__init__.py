"""Manifests of an operator, derived from its code: what `sampan bundle` writes and `sampan deploy` applies."""
