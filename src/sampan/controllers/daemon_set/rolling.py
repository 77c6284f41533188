"""Rolling update of a DaemonSet, as pure functions: old Pods to delete now, and Nodes that get a surge Pod.

Source: kube-controller-manager pkg/controller/daemon/update.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.component_base.views import Pod
from sampan.controllers.daemon_set.state import DaemonSetState
from sampan.controllers.daemon_set.upkeep import Changes


@dataclass(frozen=True, slots=True)
class _OnNode:
    new: Pod | None
    old: Pod | None


def rolling_update(state: DaemonSetState) -> Changes:
    """Return the changes of the next step; none if the update has to wait."""
    return _surge(state) if state.max_surge else _replace(state)


def _replace(state: DaemonSetState) -> Changes:
    """Return old Pods to delete, which upkeep then replaces: all unavailable ones, and a few available ones.

    A Node with missing or surplus Pods counts as unavailable, because upkeep handles it.
    """
    unavailable = 0
    free: list[Pod] = []
    candidates: list[Pod] = []
    for name in _nodes(state):
        found = _on_node(state, name)
        if found is None or (found.new is None) == (found.old is None):
            unavailable += 1
        elif found.new is not None:
            unavailable += not state.is_available(found.new)
        elif found.old is not None and state.is_available(found.old):
            candidates.append(found.old)
        elif found.old is not None:
            free.append(found.old)
            unavailable += 1
    return Changes(delete=free + candidates[: max(0, state.max_unavailable - unavailable)])


@dataclass(slots=True)
class _Surge:
    delete: list[Pod] = field(default_factory=list)
    misplaced: list[Pod] = field(default_factory=list)
    """Available Pods on Nodes that should not have a Pod."""
    free: list[str] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    surging: int = 0
    available: int = 0


def _surge(state: DaemonSetState) -> Changes:
    """Create new Pods next to old ones, and delete an old Pod once the new one is available.

    A Pod on a Node that should not have one is deleted only if enough Pods are available without it.
    """
    found = _Surge()
    for name in _nodes(state):
        on_node = _on_node(state, name)
        if on_node is None:
            found.surging += 1
        else:
            _surge_on_node(state, name, on_node, found)
    found.delete += found.misplaced[: max(0, found.available - len(state.desired))]
    create = found.free + found.candidates[: max(0, state.max_surge - found.surging)]
    return Changes(create=create, delete=found.delete)


def _surge_on_node(state: DaemonSetState, name: str, on_node: _OnNode, found: _Surge) -> None:
    new, old = on_node.new, on_node.old
    counted = old if old is not None else new
    found.available += counted is not None and state.is_available(counted)
    if old is None:
        return
    if new is not None:
        if state.is_available(new):
            found.delete.append(old)
        else:
            found.surging += 1
    elif not state.is_available(old):
        if name in state.desired:
            found.free.append(name)
        else:
            found.delete.append(old)
    elif name in state.desired:
        found.candidates.append(name)
    else:
        found.misplaced.append(old)


def _nodes(state: DaemonSetState) -> Sequence[str]:
    """Return the sorted names of the Nodes that have Pods or should have one."""
    return sorted(state.pods.keys() | state.desired)


def _on_node(state: DaemonSetState, name: str) -> _OnNode | None:
    """Return the new and the old Pod of a Node; None if there are several of either, which upkeep handles."""
    present = [pod for pod in state.pods.get(name, ()) if pod.metadata.deletion_timestamp is None]
    new = [pod for pod in present if state.is_updated(pod)]
    old = [pod for pod in present if not state.is_updated(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return _OnNode(new[0] if new else None, old[0] if old else None)
