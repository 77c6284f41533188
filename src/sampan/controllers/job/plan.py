"""Which Pods a Job that goes on needs, and which it does not. A look either makes Pods or deletes some.

Source: kube-controller-manager pkg/controller/job/job_controller.go `manageJob`, indexed_job_utils.go (1.36).
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.job.backoff import index_wait
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.seen import Seen, is_terminating
from sampan.controllers.pod_deletion_order import first_to_delete
from sampan.loops.views import Pod

BURST: Final = 500
"""Pods that one look makes or deletes at most."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: `delete` Pods, or make one for each of `create` (an index; None without indexes)."""

    delete: Sequence[Pod] = ()
    create: Sequence[int | None] = ()
    wait: dt.timedelta | None = None
    """Until more may be made, after Pods have failed; None when nothing has to wait."""


def plan(seen: Seen) -> Plan:
    """What a Job that goes on, and is not being deleted, needs."""
    if seen.spec.suspend:
        return Plan(delete=seen.active)
    wanted = _wanted(seen)
    surplus = _surplus(seen, max(len(seen.active) - wanted, 0))
    if surplus:
        return Plan(delete=surplus[:BURST])
    blocked = seen.terminating if seen.spec.replaces_failed_only else 0
    lacking = wanted - blocked - len(seen.active)
    return _creation(seen, min(lacking, BURST)) if lacking > 0 else Plan()


def _wanted(seen: Seen) -> int:
    """How many Pods are to be active."""
    spec = seen.spec
    if spec.completions is None:
        # When one Pod of a work queue has succeeded the others finish what they have.
        return len(seen.active) if seen.succeeded else spec.parallelism
    return max(min(spec.completions - seen.succeeded, spec.parallelism), 0)


def _surplus(seen: Seen, at_least: int) -> list[Pod]:
    """The active Pods to delete: those whose index is none or another's, then those that would be missed least."""
    doomed, left = _misindexed(seen) if seen.spec.indexed else ([], list(seen.active))
    if len(doomed) < at_least:
        doomed += first_to_delete(left, (), at_least - len(doomed), seen.now)
    return doomed


def _misindexed(seen: Seen) -> tuple[list[Pod], list[Pod]]:
    """The Pods without an index of the Job, and all but one of each index; and the others."""
    by_index: dict[int, list[Pod]] = defaultdict(list)
    doomed: list[Pod] = []
    for pod in seen.active:
        index = completion_index(pod)
        if index is None or not seen.spec.has_index(index):
            doomed.append(pod)
        else:
            by_index[index].append(pod)
    left: list[Pod] = []
    for _, same in sorted(by_index.items()):
        extra = first_to_delete(same, (), len(same) - 1, seen.now)
        doomed += extra
        left += [pod for pod in same if pod not in extra]
    return doomed, left


def _creation(seen: Seen, count: int) -> Plan:
    if not seen.spec.indexed:
        wait = seen.failures.wait(seen.now)
        return Plan(wait=wait) if wait else Plan(create=[None] * count)
    indexes = _pending(seen, count)
    if not seen.spec.per_index:
        wait = seen.failures.wait(seen.now)
        return Plan(wait=wait) if wait else Plan(create=indexes)
    waits = {index: index_wait(seen.last_failed.get(index), seen.now) for index in indexes}
    now = [index for index, wait in waits.items() if not wait]
    return Plan(create=now, wait=min((wait for wait in waits.values() if wait), default=None))


def _pending(seen: Seen, count: int) -> list[int]:
    """The first indexes that nobody works on and that have neither succeeded nor failed."""
    busy = list(seen.active)
    if seen.spec.replaces_failed_only:
        busy += [pod for pod in seen.pods if is_terminating(pod)]
    taken = Indexes.of(index for index in map(completion_index, busy) if index is not None)
    taken |= seen.succeeded_indexes
    if seen.failed_indexes is not None:
        taken |= seen.failed_indexes
    return taken.missing(count, seen.spec.completions or 0)
