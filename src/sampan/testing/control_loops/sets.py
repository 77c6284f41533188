"""Built-in control loops by short names: `gc`, `namespace`, `chain`, `all`, or a controller's name.

chosen_loops("gc,namespace")        # the default
chosen_loops("chain")               # Deployments to Pods on a simulated node, with gc and namespace
chosen_loops("chain,-gc,resourcequota")
chosen_loops("chain,local-path")    # volumes for claims
chosen_loops("none")
"""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Final

GC: Final = "garbage-collector-controller"
NAMESPACE: Final = "namespace-controller"
VOLUMES: Final = "persistentvolume-protection-controller"
CLAIMS: Final = "persistentvolumeclaim-protection-controller"
NODE_LIFECYCLE: Final = "node-lifecycle-controller"
SCHEDULER: Final = "scheduler"
NODES: Final = "nodes"
LOCAL_PATH: Final = "local-path-controller"
LOOPS: Final = "loops"
"""Actor of the loops that start with the cluster."""
ACTORS: Final = frozenset({LOOPS, GC, NAMESPACE, VOLUMES, CLAIMS})
"""Actors and field managers of all built-in loops: those that start later have separate ones."""
DEFAULT: Final = "gc,namespace"
_CHAIN: Final = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "job-controller",
    "persistentvolume-binder-controller",
    VOLUMES,
    CLAIMS,
    "replicaset-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
    SCHEDULER,
    NODES,
)
_SHORT: Final = {"gc": (GC,), "namespace": (NAMESPACE,), "chain": _CHAIN}


_LOOP_OF: Final = {
    "cronjobs": "cronjob-controller",
    "daemonsets": "daemonset-controller",
    "deployments": "deployment-controller",
    "horizontalpodautoscalers": "horizontal-pod-autoscaler-controller",
    "jobs": "job-controller",
    "persistentvolumeclaims": CLAIMS,
    "persistentvolumes": VOLUMES,
    "pods": NODES,
    "replicasets": "replicaset-controller",
    "statefulsets": "statefulset-controller",
}
"""Loops without which the status or the deletion of built-in resources makes no progress."""


class UnknownLoop(ValueError):
    """No control loop has this name."""


@dataclass(frozen=True, slots=True)
class LoopNames:
    """Chosen loops. `lazy` ones start when the cluster first has work for them."""

    eager: tuple[str, ...]
    lazy: tuple[str, ...]

    def hint(self, resource: str) -> str:
        """Return the mark that runs the loop of a resource; empty if it runs already, or if there is none."""
        loop = _LOOP_OF.get(resource, "")
        if not loop or loop in self.eager or loop in self.lazy:
            return ""
        word = "chain" if loop in _CHAIN else loop
        return f'no loop acts on {resource}: @pytest.mark.cluster(loops="{word}") runs it'

    @property
    def makes_accounts(self) -> bool:
        """True if each namespace gets its ServiceAccount `default`."""
        return "serviceaccount-controller" in self.eager

    @property
    def judges_nodes(self) -> bool:
        """True if a new Node gets no Pods before a controller finds it ready."""
        return NODE_LIFECYCLE in self.eager

    @property
    def leaves_taints(self) -> bool:
        """True if nodes run, but the taint `node.kubernetes.io/not-ready` of new Nodes would stay."""
        return NODES in self.eager and not self.judges_nodes


def chosen_loops(text: str) -> LoopNames:
    """Return the loops of a comma-separated list. gc and namespace are on, unless it has `-gc` or `none`.

    Raises `UnknownLoop`.
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
    lazy = (GC, NAMESPACE, VOLUMES, CLAIMS)
    return LoopNames(tuple(each for each in chosen if each not in lazy), tuple(each for each in lazy if each in chosen))


def _named(word: str) -> tuple[str, ...]:
    if word in _SHORT:
        return _SHORT[word]
    # The module imports all controllers, which takes longer than the start of a cluster.
    controllers: tuple[str, ...] = tuple(import_module("sampan.controllers.catalogue").CONTROLLERS)
    known = (*controllers, SCHEDULER, NODES)
    if word == "all":
        return known
    for name in (word, f"{word}-controller"):
        if name in known:
            return (name,)
    close = get_close_matches(word, (*_SHORT, "all", "none", *known), n=1)
    raise UnknownLoop(
        f"loops: {word!r} is unknown{f', did you mean {close[0]!r}' if close else ''}; "
        f"known are {', '.join(_SHORT)}, all, none, and the controllers {', '.join(known)}"
    )


_NEEDS_GC: Final = (b'"ownerReferences"', b"foregroundDeletion", b'"orphan"')
"""Parts of a stored object that give the garbage collector work."""
_DELETION: Final = {
    "/registry/namespaces/": NAMESPACE,
    "/registry/persistentvolumeclaims/": CLAIMS,
    "/registry/persistentvolumes/": VOLUMES,
}
"""Loops that finish deletions, by the prefix of the keys."""


def loops_needed(key: str, value: bytes) -> list[str]:
    """Return the loops that a stored object gives work."""
    found = [GC] if any(mark in value for mark in _NEEDS_GC) else []
    if b'"deletionTimestamp"' in value:
        found += [loop for prefix, loop in _DELETION.items() if key.startswith(prefix)]
    return found
