"""Garbage collection of a node's images and dead containers.

The decisions (`images.py`, `containers.py`) are functions over snapshots. `collector.py` runs them.
Source: kubelet pkg/kubelet/images/image_gc_manager.go, pkg/kubelet/kuberuntime/kuberuntime_gc.go (1.36).
"""

from sampan.node.garbage.collector import Garbage, GarbageCollector
from sampan.node.garbage.images import Disk, ImageInStore, ImagePolicy

__all__ = ["Disk", "Garbage", "GarbageCollector", "ImageInStore", "ImagePolicy"]
