"""An operator on a cluster: what a deployment changes, its order, its readiness, and its removal."""
