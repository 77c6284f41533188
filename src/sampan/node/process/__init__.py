"""Runtime whose containers are processes of this machine."""

from sampan.node.process.images import Image, Images
from sampan.node.process.isolation import Isolation
from sampan.node.process.runtime import ProcessRuntime

__all__ = ["Image", "Images", "Isolation", "ProcessRuntime"]
