"""Plans that delete an object which the operator needs, after a write or a read of it.

The number of plans is bounded: at most `MOMENTS_MAX` moments for each object, spread over the run.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sampan.testing.explore.outcome import Outcome
from sampan.testing.explore.plan import REMOVED, VANISHED, PlannedFault, WriteId

MOMENTS_MAX: Final = 12
_NOT_DELETED: Final = ("namespaces", "customresourcedefinitions")
"""Resources whose objects are not deleted: objects of the user would be lost with them."""


def deletions(reference: Outcome, unwritten: Sequence[str]) -> Iterator[PlannedFault]:
    """Yield the plans. Writes to the resources in `unwritten` are no moments."""
    moments = [each for each in reference.moments if each.place[0] not in unwritten]
    for need in reference.needed:
        if need.place[0] in _NOT_DELETED:
            continue
        found = _spread(list(_while_it_exists(moments, need)))
        yield from (PlannedFault(VANISHED, need, moment) for moment in found)
        yield from (PlannedFault(REMOVED, need, moment) for moment in dict.fromkeys((*found[:1], *found[-1:])))


def _while_it_exists(moments: Sequence[WriteId], need: WriteId) -> Iterator[WriteId]:
    """Yield the moments before the user or the operator deletes the object, without reads of other objects."""
    for moment in moments:
        if moment.place == need.place and moment.verb == "delete":
            return
        if moment.verb != "get" or moment.place == need.place:
            yield moment


def _spread(moments: Sequence[WriteId]) -> Sequence[WriteId]:
    """Return at most `MOMENTS_MAX` moments, with the first and the last one. Repetitions are left out first."""
    if len(moments) > MOMENTS_MAX:
        moments = list({(each.actor, each.verb, each.resource, each.name): each for each in moments}.values())
    if len(moments) <= MOMENTS_MAX:
        return moments
    step = (len(moments) - 1) / (MOMENTS_MAX - 1)
    return [moments[round(number * step)] for number in range(MOMENTS_MAX)]
