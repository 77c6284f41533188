"""Set-up of built-in control loops in the manager of a test. Each is imported when it first runs."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.core.time import SystemClock
from sampan.informer.settings import InformerSettings, ReflectorSettings
from sampan.operator.manager import Manager
from sampan.testing.control_loops.sets import GC, LOCAL_PATH, NAMESPACE, NODE_LIFECYCLE, NODES, SCHEDULER

_FOREVER_S: Final = 1e8
_RENEW_S: Final = 40.0
"""Seconds between renewals of a node's Lease: a node is unreachable after 50. No process of the machine can be late."""
_ALONE: Final = {GC: "sampan.controllers.garbage_collector", NAMESPACE: "sampan.controllers.namespace.controller"}
"""Modules of controllers that run in nearly every cluster: the rest of the catalogue is not imported for them."""


def quiet_informers() -> InformerSettings:
    """Return settings of informers whose watches never end and carry no bookmarks: nothing runs while nothing changes.

    A watch in the same process does not break without an error, so it needs no keepalive.
    """
    reflector = ReflectorSettings(
        streaming=False,
        bookmarks=False,
        watch_s_min=_FOREVER_S,
        watch_s_max=_FOREVER_S,
        idle_timeout_s=_FOREVER_S,
        idle_timeout_without_bookmarks_s=_FOREVER_S,
    )
    return InformerSettings(reflector)


def set_up_loops(manager: Manager, names: tuple[str, ...], nodes: int) -> None:
    """Add loops to a manager. `nodes` is the number of simulated nodes."""
    context = ControllerContext(
        manager,
        SystemClock(),
        namespace_grace_s=0.0,
        discovery_period_s=_FOREVER_S,
        local_path_class=LOCAL_PATH in names,
    )
    for name in names:
        if name == SCHEDULER:
            import_module("sampan.scheduler.set_up").set_up(context)
        elif name == NODES:
            module = import_module("sampan.node.set_up")
            renewed, node_names = NODE_LIFECYCLE in names, module.node_names(nodes, "node")
            settings = module.SimulatedNodes(node_names, renewed=renewed, renew_s=_RENEW_S)
            module.set_up(context, settings)
        else:
            _controller(name)(context)


def _controller(name: str) -> Callable[[ControllerContext], None]:
    set_up: Callable[[ControllerContext], None]
    if name in _ALONE:
        set_up = import_module(_ALONE[name]).set_up
    else:
        set_up = import_module("sampan.controllers.catalogue").CONTROLLERS[name]
    return set_up
