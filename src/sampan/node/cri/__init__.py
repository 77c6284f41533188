"""Client for CRI, the interface of container runtimes such as containerd and CRI-O."""

from sampan.node.cri.client import CriClient
from sampan.node.cri.errors import CriError, RuntimeUnavailable

__all__ = ["CriClient", "CriError", "RuntimeUnavailable"]
