"""What the scheduler knows of the cluster: Nodes as rows of arrays, and the Pods on them."""
