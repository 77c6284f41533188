"""Node agent: runs the Pods that are bound to its nodes."""
