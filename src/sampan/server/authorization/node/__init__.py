"""Node authorization: a kubelet may read the objects that its Pods need."""
