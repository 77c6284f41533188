"""Resource metrics (metrics.k8s.io): the current usage of nodes and Pods, from the metrics of the kubelets."""
