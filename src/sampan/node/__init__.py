"""The node agent: runs the Pods of its node."""
