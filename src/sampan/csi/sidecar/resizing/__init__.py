"""Expansion of volumes: the decision, its state in the claim's status, and the controller."""
