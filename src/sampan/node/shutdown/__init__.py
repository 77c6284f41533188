"""Graceful shutdown of a node: its Pods are stopped in order before the machine shuts down."""

from sampan.node.shutdown.inhibitor import Inhibitor, has_systemd
from sampan.node.shutdown.node_shutdown import STATUS_S, NodeShutdown
from sampan.node.shutdown.policy import ShutdownPolicy, shutdown_policy
from sampan.node.shutdown.signal import ShutdownSignal

__all__ = [
    "STATUS_S",
    "Inhibitor",
    "NodeShutdown",
    "ShutdownPolicy",
    "ShutdownSignal",
    "has_systemd",
    "shutdown_policy",
]
