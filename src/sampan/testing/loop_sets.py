"""Built-in control loops by short names: `gc`, `namespace`, `chain`, `all`, or a controller's name.

chosen_loops("gc,namespace")        # the default
chosen_loops("chain")               # Deployments to Pods on a simulated node, with gc and namespace
chosen_loops("chain,-gc,resourcequota")
chosen_loops("none")
"""

from dataclasses import dataclass
from typing import Final

from sampan.controllers.catalogue import CONTROLLERS
from sampan.core.time import SystemClock
from sampan.informer.settings import InformerSettings, ReflectorSettings
from sampan.loops.context import ControllerContext
from sampan.node.set_up import SimulatedNodes, node_names
from sampan.node.set_up import set_up as set_up_nodes
from sampan.operator.manager import Manager
from sampan.scheduler.set_up import set_up as set_up_scheduler

GC: Final = "garbage-collector-controller"
NAMESPACE: Final = "namespace-controller"
NODE_LIFECYCLE: Final = "node-lifecycle-controller"
SCHEDULER: Final = "scheduler"
NODES: Final = "nodes"
DEFAULT: Final = "gc,namespace"
_FOREVER_S: Final = 1e8
_CHAIN: Final = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "job-controller",
    "persistentvolume-binder-controller",
    "replicaset-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
    SCHEDULER,
    NODES,
)
_SHORT: Final = {"gc": (GC,), "namespace": (NAMESPACE,), "chain": _CHAIN, "all": (*CONTROLLERS, SCHEDULER, NODES)}
_KNOWN: Final = (*CONTROLLERS, SCHEDULER, NODES)


@dataclass(frozen=True, slots=True)
class LoopNames:
    """Chosen loops. `lazy` ones start when the cluster first has work for them."""

    eager: tuple[str, ...]
    lazy: tuple[str, ...]

    @property
    def makes_accounts(self) -> bool:
        """True if each namespace gets its ServiceAccount `default`."""
        return "serviceaccount-controller" in self.eager

    @property
    def judges_nodes(self) -> bool:
        """True if a new Node gets no Pods before a controller finds it ready."""
        return NODE_LIFECYCLE in self.eager


def chosen_loops(text: str) -> LoopNames:
    """Return the loops of a comma-separated list. gc and namespace are on, unless it has `-gc` or `none`.

    Raises `ValueError` for an unknown name.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    chosen: list[str] = [] if "none" in words else [GC, NAMESPACE]
    for word in words:
        if word == "none":
            continue
        names = _named(word.removeprefix("-"))
        if word.startswith("-"):
            chosen = [each for each in chosen if each not in names]
        else:
            chosen += [each for each in names if each not in chosen]
    lazy = (GC, NAMESPACE)
    return LoopNames(tuple(each for each in chosen if each not in lazy), tuple(each for each in lazy if each in chosen))


def _named(word: str) -> tuple[str, ...]:
    if word in _SHORT:
        return _SHORT[word]
    for name in (word, f"{word}-controller"):
        if name in _KNOWN:
            return (name,)
    raise ValueError(
        f"loops: {word!r} is unknown; known are {', '.join(_SHORT)}, none, and the controllers {', '.join(_KNOWN)}"
    )


def quiet_informers() -> InformerSettings:
    """Return settings of informers whose watches never end and carry no bookmarks: nothing runs while nothing changes.

    A watch in the same process does not break without an error, so nothing has to keep it alive.
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
    context = ControllerContext(manager, SystemClock(), discovery_period_s=_FOREVER_S)
    for name in names:
        if name == SCHEDULER:
            set_up_scheduler(context)
        elif name == NODES:
            renewed = NODE_LIFECYCLE in names
            set_up_nodes(context, SimulatedNodes(node_names(nodes, "node"), renewed=renewed))
        else:
            CONTROLLERS[name](context)
