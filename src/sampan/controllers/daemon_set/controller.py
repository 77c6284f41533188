"""Reconcile one DaemonSet.

Concurrency: the manager runs the controller; each DaemonSet is reconciled by one worker at a time. Reads include the
controller's own earlier writes, so a Node never gets a second Pod.
Source: kube-controller-manager pkg/controller/daemon/{daemon_controller,update}.go (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from sampan.client import ClientError, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONTROLLER_REVISIONS, DAEMON_SETS, PODS
from sampan.component_base.views import NODE_VIEW, POD_VIEW, Node, Pod
from sampan.controllers.daemon_set.failure_backoff import FailureBackoff
from sampan.controllers.daemon_set.placement import new_pod, pinned, placement_of
from sampan.controllers.daemon_set.rolling import rolling_update
from sampan.controllers.daemon_set.state import ROLLING_UPDATE, DaemonSetState, observe, oldest_first
from sampan.controllers.daemon_set.upkeep import Changes, upkeep
from sampan.controllers.status import set_counts, status_of, write_status
from sampan.controllers.workloads.availability import next_available_s
from sampan.controllers.workloads.history import POD_HASH_LABEL, RevisionHistory, data_of, has_data, number_of, surplus
from sampan.controllers.workloads.ownership import Owned, OwnerGone, owners_of_pods
from sampan.controllers.workloads.pod_control import PodControl
from sampan.controllers.workloads.slow_start import slow_start
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.kinds import apps_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "daemonset-controller"
WORKERS: Final = 2
BURST: Final = 250
"""Highest number of Pods that one reconciliation creates or deletes."""

_ALWAYS_SET: Final = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    DaemonSetController(context).start()


class DaemonSetController:
    """Creates, updates and deletes the Pods of DaemonSets."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        client = context.manager.client
        self._sets = client.resource(DAEMON_SETS, namespace="")
        self._informer = context.informer(DAEMON_SETS)
        self._nodes = client.resource(NODE_VIEW, namespace="")
        self._pods = client.resource(PODS, namespace="")
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, DAEMON_SETS)
        self._history = RevisionHistory(context, DAEMON_SETS, hash_label=POD_HASH_LABEL)
        self._recorder = context.recorder(NAME)
        self._control = PodControl(context, self._recorder)
        self._backoff = FailureBackoff()

    def start(self) -> None:
        """Register the controller with the manager."""
        (
            Builder(self._context.manager)
            .named(NAME)
            .for_(DAEMON_SETS)
            .watches(POD_VIEW, owners_of_pods(DAEMON_SETS, self._informer, _selector))
            .watches(CONTROLLER_REVISIONS, for_owner(DAEMON_SETS))
            .watches(NODE_VIEW, self._sets_of_node, predicates=[PredicateFuncs(on_update=_affects_placement)])
            .with_options(max_concurrent_reconciles=WORKERS)
            .complete(self)
        )

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one DaemonSet. The garbage collector handles one that is being deleted."""
        try:
            daemon_set = await self._sets.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        if daemon_set["spec"].get("selector") == {}:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self._recorder.warning(daemon_set, "SelectingAll", text)
            return None
        if meta(daemon_set).deletion_timestamp is not None:
            return None
        try:
            history = await self._history.claim(daemon_set, _selector(daemon_set))
            hashed, old, collisions = await self._revise(daemon_set, history)
            pods = await self._owned.claim(daemon_set, _selector(daemon_set))
        except OwnerGone:
            return None
        state = observe(daemon_set, hashed, list(await self._nodes.list()), pods, self._context.clock.now())
        failure: ClientError | None = None
        held_s: float | None = None
        try:
            held_s = await self._manage(state)
            await self._delete_surplus_revisions(state, old, pods)
        except ClientError as error:
            failure = error
        try:
            await write_status(self._sets, daemon_set, status(state, collisions))
        except NotFound:
            return None
        if failure is not None:
            raise failure
        waits = (held_s, next_available_s(pods, state.min_ready_s, state.now))
        return Result(min((wait for wait in waits if wait is not None), default=None))

    # Revisions.

    async def _revise(
        self, daemon_set: apps_v1.DaemonSet, history: Sequence[apps_v1.ControllerRevision]
    ) -> tuple[str, list[apps_v1.ControllerRevision], int]:
        """Return the hash of the current template's revision, the other revisions (oldest first) and the collision
        count.
        """
        data = data_of(daemon_set["spec"]["template"])
        status = daemon_set.get("status")
        collisions = (status.get("collisionCount") or 0) if status else 0
        history = [await self._labelled(revision) for revision in history]
        same = [revision for revision in history if has_data(revision, data)]
        old = [revision for revision in history if not has_data(revision, data)]
        number = number_of(old[-1]) + 1 if old else 1
        if not same:
            current, collisions = await self._history.create(daemon_set, data, number, collisions)
            return _hash_of(current), old, collisions
        current = same.pop()
        if same:
            await self._relabel(await self._owned.of(daemon_set), _hash_of(current))
            await self._history.delete(same)
        if number_of(current) < number:
            current = await self._history.renumber(current, number)
        return _hash_of(current), old, collisions

    async def _labelled(self, revision: apps_v1.ControllerRevision) -> apps_v1.ControllerRevision:
        """Add the hash label to a revision that does not have it, with the revision's name as its value.

        Revisions that another client created may not have the label.
        """
        if POD_HASH_LABEL in meta(revision).labels:
            return revision
        return await self._history.label(revision, {POD_HASH_LABEL: meta(revision).name})

    async def _relabel(self, pods: Sequence[Pod], hashed: str) -> None:
        """Label all Pods with this revision. It is the one that is kept if several revisions have the same data."""
        for pod in pods:
            if pod.metadata.labels.get(POD_HASH_LABEL) != hashed:
                patch = MergePatch({"metadata": {"uid": pod.metadata.uid, "labels": {POD_HASH_LABEL: hashed}}})
                try:
                    await self._pods.in_namespace(pod.metadata.namespace).patch(pod.metadata.name, patch)
                except NotFound:
                    continue

    async def _delete_surplus_revisions(
        self, state: DaemonSetState, old: Sequence[apps_v1.ControllerRevision], pods: Sequence[Pod]
    ) -> None:
        """Delete the oldest revisions beyond the history limit, except those that Pods use."""
        live = {pod.metadata.labels.get(POD_HASH_LABEL) for pod in pods}
        surplus_count = len(surplus(old, state.daemon_set["spec"].get("revisionHistoryLimit")))
        dead = [revision for revision in old if _hash_of(revision) not in live]
        await self._history.delete(dead[:surplus_count])

    # Pods.

    async def _manage(self, state: DaemonSetState) -> float | None:
        """Do the upkeep, or one step of the update if there is no upkeep to do.

        Returns the seconds until failed Pods held back by backoff may be replaced, or None.
        """
        changes = upkeep(state)
        held_s = self._end(state, changes)
        is_rolling = (state.daemon_set["spec"].get("updateStrategy") or {}).get("type") == ROLLING_UPDATE
        if is_rolling and not changes.create and not changes.delete:
            changes = rolling_update(state)
        await self._carry_out(state, changes)
        return held_s

    def _end(self, state: DaemonSetState, changes: Changes) -> float | None:
        """Mark ended Pods for deletion.

        Return the seconds until the backoff of the next failed Pod is over, or None.
        """
        daemon_set, namespace = state.daemon_set, meta(state.daemon_set).namespace
        for node, pod in changes.succeeded:
            text = f"Found succeeded daemon pod {namespace}/{pod.metadata.name} on node {node}, will try to delete it"
            self._recorder.normal(daemon_set, "SucceededDaemonPod", text)
            changes.delete.append(pod)
        now = asyncio.get_running_loop().time()
        status = daemon_set.get("status")
        observed = status.get("observedGeneration") if status else None
        waits: list[float] = []
        for node, pod in changes.failed:
            key = (meta(daemon_set).uid, observed, node)
            left_s = self._backoff.left_s(key, now)
            if left_s > 0:
                waits.append(left_s)
                continue
            self._backoff.replaced(key, now)
            text = f"Found failed daemon pod {namespace}/{pod.metadata.name} on node {node}, will try to kill it"
            self._recorder.warning(daemon_set, "FailedDaemonPod", text)
            changes.delete.append(pod)
        return min(waits, default=None)

    async def _carry_out(self, state: DaemonSetState, changes: Changes) -> None:
        pod = new_pod(state.daemon_set, hashed=state.hashed)

        async def create(index: int) -> None:
            await self._control.create(pinned(pod, changes.create[index]), state.daemon_set)

        ends = [self._control.delete(each, state.daemon_set) for each in changes.delete[:BURST]]
        made = slow_start(min(len(changes.create), BURST), create)
        for result in await asyncio.gather(made, *ends, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def _sets_of_node(self, ref: Ref[Node]) -> Iterable[Request]:
        """Return the DaemonSets that may have a Pod on a Node.

        For an update of a Node it is called with the old and with the new state.
        """
        node = ref.decode()
        return [
            Request(meta(each).namespace, meta(each).name)
            for each in self._informer.lister().list()
            if placement_of(each).should_stay(node)
        ]


def _selector(daemon_set: apps_v1.DaemonSet) -> Selector:
    return selector_from_label_selector(daemon_set["spec"]["selector"])


def _hash_of(revision: apps_v1.ControllerRevision) -> str:
    return str(meta(revision).labels.get(POD_HASH_LABEL, meta(revision).name))


def _affects_placement(old: Ref[Node], new: Ref[Node]) -> bool:
    """Return True if a Node may get other Pods than before. Its status, which changes often, does not matter."""
    return old.uid != new.uid or old.labels != new.labels or old.decode().spec.taints != new.decode().spec.taints


def status(state: DaemonSetState, collisions: int) -> apps_v1.DaemonSetStatus:
    """Count the Nodes with Pods: desired, current, ready, updated. Of several Pods on a Node the oldest one counts."""
    counted = [oldest_first(pods)[0] for name, pods in state.pods.items() if name in state.desired]
    ready = [pod for pod in counted if pod.is_ready]
    available = sum(state.is_available(pod) for pod in ready)
    counts: apps_v1.DaemonSetStatus = {
        "desiredNumberScheduled": len(state.desired),
        "currentNumberScheduled": len(counted),
        "numberMisscheduled": sum(
            node.metadata.name in state.pods and node.metadata.name not in state.desired for node in state.nodes
        ),
        "numberReady": len(ready),
        "updatedNumberScheduled": sum(state.is_updated(pod) for pod in counted),
        "numberAvailable": available,
        "numberUnavailable": len(state.desired) - available,
    }
    new: apps_v1.DaemonSetStatus = status_of(state.daemon_set)
    set_counts(new, counts, always=_ALWAYS_SET)
    if collisions:
        new["collisionCount"] = collisions
    new["observedGeneration"] = meta(state.daemon_set).generation
    return new
