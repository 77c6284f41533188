"""Shared parts of the control loops: their context, the built-in resources, and partial views of Pods and Nodes."""
