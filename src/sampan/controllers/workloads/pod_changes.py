"""Predicate for loops that count Pods: it drops updates that do not change any count.

Each new Pod is bound, started and made ready. Of these updates only the last changes a count.
"""

from typing import Any

from sampan.component_base.views import Pod
from sampan.controllers.workloads.ownership import controller_of, has_other_controller
from sampan.informer.ref import Ref
from sampan.operator.predicates import Predicate


class CountChanged(Predicate[Pod]):
    """Drops updates that change no count: labels, activity, readiness, its time and the owner stay the same.

    It also drops updates of Pods if the controller before and after the update is of another kind than `owner`.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def update(self, old: Ref[Pod], new: Ref[Pod]) -> bool:
        """Return True if a count may have changed."""
        if has_other_controller(old, self._owner) and has_other_controller(new, self._owner):
            return False
        if old.uid != new.uid or old.labels != new.labels:
            return True
        return _counted(old.decode()) != _counted(new.decode())


def _counted(pod: Pod) -> tuple[Any, ...]:
    ready, owner = pod.condition("Ready"), controller_of(pod)
    return (
        pod.is_active,
        (ready.status, ready.last_transition_time) if ready is not None else None,
        owner.uid if owner is not None else "",
    )
