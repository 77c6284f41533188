"""Container garbage collection: selects the dead containers and sandboxes to remove.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_gc.go (1.36).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContainerInStore:
    """Container that the runtime has."""

    id: str
    uid: str
    """Uid of its Pod."""
    name: str
    sandbox: str
    created_at: int
    has_ended: bool


@dataclass(frozen=True, slots=True)
class SandboxInStore:
    """Sandbox that the runtime has."""

    id: str
    uid: str
    created_at: int
    is_ready: bool


def dead_containers(containers: Iterable[ContainerInStore], has_ended: Callable[[str], bool]) -> list[ContainerInStore]:
    """Return the containers to remove: all ended ones but the newest of each name.

    `has_ended`: returns True for the uid of a Pod whose containers are all no longer needed.
    """
    newest_first = sorted(containers, key=lambda each: each.created_at, reverse=True)
    kept: set[tuple[str, str]] = set()
    found = []
    for each in newest_first:
        if not each.has_ended:
            continue
        if (each.uid, each.name) in kept or has_ended(each.uid):
            found.append(each)
        kept.add((each.uid, each.name))
    return found


def dead_sandboxes(
    sandboxes: Sequence[SandboxInStore], containers: Iterable[ContainerInStore], has_ended: Callable[[str], bool]
) -> list[SandboxInStore]:
    """Return the sandboxes to remove: not ready, without containers, and not the newest of a Pod that still runs."""
    occupied = {each.sandbox for each in containers}
    newest: dict[str, SandboxInStore] = {}
    for each in sandboxes:
        if each.uid not in newest or each.created_at > newest[each.uid].created_at:
            newest[each.uid] = each
    return [
        each
        for each in sandboxes
        if not each.is_ready and each.id not in occupied and (newest[each.uid] is not each or has_ended(each.uid))
    ]
