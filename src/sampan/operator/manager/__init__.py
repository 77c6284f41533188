"""The manager: starts all parts of an operator in order, and stops them in reverse order."""

from sampan.operator.manager.manager import Manager
from sampan.operator.manager.options import ManagerOptions
from sampan.operator.manager.probes import Check, Probes
from sampan.operator.manager.runnable import Group, Runnable
from sampan.operator.manager.runnable_group import ShutdownTimeout

__all__ = ["Check", "Group", "Manager", "ManagerOptions", "Probes", "Runnable", "ShutdownTimeout"]
