"""Node authorization: a kubelet sees what its own Pods need."""
