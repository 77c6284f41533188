"""`ControllerContext` by the name under which the controllers know it; it is at home in `sampan.loops`."""

from sampan.loops.context import ControllerContext

__all__ = ["ControllerContext"]
