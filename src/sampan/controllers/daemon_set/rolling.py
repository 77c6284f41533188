"""A rolling update of a DaemonSet: which old Pods go now, which Nodes get a new Pod beside the old one. Pure.

Source: kube-controller-manager pkg/controller/daemon/update.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.controllers.daemon_set.seen import Seen
from sampan.controllers.daemon_set.upkeep import Changes
from sampan.loops.views import Pod


@dataclass(frozen=True, slots=True)
class _OnNode:
    new: Pod | None
    old: Pod | None


def rolling_update(seen: Seen) -> Changes:
    """The next step; nothing where there is nothing to do but wait."""
    return _surge(seen) if seen.max_surge else _replace(seen)


def _replace(seen: Seen) -> Changes:
    """Delete old Pods, so that upkeep makes new ones: those that are not available anyway, and a few that are.

    What is missing or excessive on a Node counts as unavailable: upkeep deals with it.
    """
    unavailable = 0
    free: list[Pod] = []
    candidates: list[Pod] = []
    for name in _nodes(seen):
        found = _on_node(seen, name)
        if found is None or (found.new is None) == (found.old is None):
            unavailable += 1
        elif found.new is not None:
            unavailable += not seen.is_available(found.new)
        elif found.old is not None and seen.is_available(found.old):
            candidates.append(found.old)
        elif found.old is not None:
            free.append(found.old)
            unavailable += 1
    return Changes(delete=free + candidates[: max(0, seen.max_unavailable - unavailable)])


@dataclass(slots=True)
class _Surge:
    delete: list[Pod] = field(default_factory=list)
    misplaced: list[Pod] = field(default_factory=list)
    """Available Pods on Nodes that should have none any more."""
    free: list[str] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    surging: int = 0
    available: int = 0


def _surge(seen: Seen) -> Changes:
    """Make new Pods beside old ones, and delete the old one where the new one is available.

    A Pod on a Node that should have none any more goes only when there are enough without it.
    """
    found = _Surge()
    for name in _nodes(seen):
        on_node = _on_node(seen, name)
        if on_node is None:
            found.surging += 1
        else:
            _surge_on_node(seen, name, on_node, found)
    found.delete += found.misplaced[: max(0, found.available - len(seen.wanted))]
    create = found.free + found.candidates[: max(0, seen.max_surge - found.surging)]
    return Changes(create=create, delete=found.delete)


def _surge_on_node(seen: Seen, name: str, on_node: _OnNode, found: _Surge) -> None:
    new, old = on_node.new, on_node.old
    counted = old if old is not None else new
    found.available += counted is not None and seen.is_available(counted)
    if old is None:
        return
    if new is not None:
        if seen.is_available(new):
            found.delete.append(old)
        else:
            found.surging += 1
    elif not seen.is_available(old):
        if name in seen.wanted:
            found.free.append(name)
        else:
            found.delete.append(old)
    elif name in seen.wanted:
        found.candidates.append(name)
    else:
        found.misplaced.append(old)


def _nodes(seen: Seen) -> Sequence[str]:
    """The Nodes that have Pods or should have one, by name."""
    return sorted(seen.pods.keys() | seen.wanted)


def _on_node(seen: Seen, name: str) -> _OnNode | None:
    """The new and the old Pod of a Node; None when there are several of a kind, which upkeep deals with."""
    present = [pod for pod in seen.pods.get(name, ()) if pod.metadata.deletion_timestamp is None]
    new = [pod for pod in present if seen.is_updated(pod)]
    old = [pod for pod in present if not seen.is_updated(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return _OnNode(new[0] if new else None, old[0] if old else None)
