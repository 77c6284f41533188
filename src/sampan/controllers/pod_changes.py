"""Which changes of a Pod concern whoever counts Pods.

Of a thousand Pods that are made, each is bound, started and made ready; only the last of these changes a count.
"""

from typing import Any

from sampan.controllers.ownership import controlled_by_others, controller_of
from sampan.informer.ref import Ref
from sampan.loops.views import Pod
from sampan.operator.predicates import Predicate


class CountsOtherwise(Predicate[Pod]):
    """Drops updates after which a Pod counts as before: active, ready since the same moment, with the same owner.

    So does a Pod whose controller was and is of another kind than `owner`.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def update(self, old: Ref[Pod], new: Ref[Pod]) -> bool:
        """Whether a count may have changed."""
        if controlled_by_others(old, self._owner) and controlled_by_others(new, self._owner):
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
