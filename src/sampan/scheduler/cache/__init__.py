"""State of the cluster for the scheduler: Nodes as rows of arrays, and the Pods on them."""
