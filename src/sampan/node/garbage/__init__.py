"""Garbage collection of a node's images and dead containers.

The decisions (`images.py`, `containers.py`) are functions over snapshots. `collector.py` runs them.
Source: kubelet pkg/kubelet/images/image_gc_manager.go, pkg/kubelet/kuberuntime/kuberuntime_gc.go (1.36).
"""
