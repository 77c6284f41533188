"""Plan of a Job that continues: Pods to create or to delete. One reconciliation does only one of the two.

Source: kube-controller-manager pkg/controller/job/job_controller.go `manageJob`, indexed_job_utils.go (1.36).
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.component_base.views import Pod
from sampan.controllers.job.backoff import index_wait
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.state import JobState, is_terminating
from sampan.controllers.workloads.pod_deletion_order import first_to_delete

BURST: Final = 500
"""Highest number of Pods that one reconciliation creates or deletes."""


@dataclass(frozen=True, slots=True)
class PodChanges:
    """Pods to delete, or indexes to create Pods for. The index is None for a Job without indexes."""

    delete: Sequence[Pod] = ()
    create: Sequence[int | None] = ()
    wait: dt.timedelta | None = None
    """Time until more Pods may be created after failures; None if no backoff applies."""


def plan(state: JobState) -> PodChanges:
    """Return the plan for a Job that continues and is not being deleted."""
    if state.spec.suspend:
        return PodChanges(delete=state.active)
    desired = _desired(state)
    surplus = _surplus(state, max(len(state.active) - desired, 0))
    if surplus:
        return PodChanges(delete=surplus[:BURST])
    blocked = state.terminating if state.spec.replaces_failed_only else 0
    lacking = desired - blocked - len(state.active)
    return _creation(state, min(lacking, BURST)) if lacking > 0 else PodChanges()


def _desired(state: JobState) -> int:
    """Return the desired number of active Pods."""
    spec = state.spec
    if spec.completions is None:
        # After the first success in a work queue, the other Pods finish and no new ones are created.
        return len(state.active) if state.succeeded else spec.parallelism
    return max(min(spec.completions - state.succeeded, spec.parallelism), 0)


def _surplus(state: JobState, at_least: int) -> list[Pod]:
    """Return the active Pods to delete: first those with an invalid or duplicate index, then the least useful."""
    victims, left = _misindexed(state) if state.spec.indexed else ([], list(state.active))
    if len(victims) < at_least:
        victims += first_to_delete(left, (), at_least - len(victims), state.now)
    return victims


def _misindexed(state: JobState) -> tuple[list[Pod], list[Pod]]:
    """Split active Pods into those with an invalid or duplicate index, and valid ones."""
    by_index: dict[int, list[Pod]] = defaultdict(list)
    victims: list[Pod] = []
    for pod in state.active:
        index = completion_index(pod)
        if index is None or not state.spec.has_index(index):
            victims.append(pod)
        else:
            by_index[index].append(pod)
    left: list[Pod] = []
    for _, same in sorted(by_index.items()):
        extra = first_to_delete(same, (), len(same) - 1, state.now)
        victims += extra
        left += [pod for pod in same if pod not in extra]
    return victims, left


def _creation(state: JobState, count: int) -> PodChanges:
    if not state.spec.indexed:
        wait = state.failures.wait(state.now)
        return PodChanges(wait=wait) if wait else PodChanges(create=[None] * count)
    indexes = _pending(state, count)
    if not state.spec.per_index:
        wait = state.failures.wait(state.now)
        return PodChanges(wait=wait) if wait else PodChanges(create=indexes)
    waits = {index: index_wait(state.last_failed.get(index), state.now) for index in indexes}
    now = [index for index, wait in waits.items() if not wait]
    return PodChanges(create=now, wait=min((wait for wait in waits.values() if wait), default=None))


def _pending(state: JobState, count: int) -> list[int]:
    """Return the first indexes without active Pod that have neither succeeded nor failed."""
    busy = list(state.active)
    if state.spec.replaces_failed_only:
        busy += [pod for pod in state.pods if is_terminating(pod)]
    taken = Indexes.of(index for index in map(completion_index, busy) if index is not None)
    taken |= state.succeeded_indexes
    if state.failed_indexes is not None:
        taken |= state.failed_indexes
    return taken.missing(count, state.spec.completions or 0)
