"""The Pods that have no Node yet, in the order in which they are tried."""
