"""Reconcile one StatefulSet.

Concurrency: the manager runs the controller; each set is reconciled by one worker at a time. Reads include the
controller's own earlier writes. With ordered management, each reconciliation changes one Pod. With parallel management,
it handles all Pods at once. Source: kube-controller-manager
pkg/controller/statefulset/{stateful_set,stateful_set_control}.go (1.36).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from sampan.client import ApiError, Client, ClientError, NotFound, StrategicMergePatch, WriteOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.stateful_set.identity import (
    has_identity,
    has_storage,
    is_claim_name,
    new_pod,
    parent_and_ordinal,
    revision_name_of,
)
from sampan.controllers.stateful_set.plan import (
    ReplicaAction,
    Revisions,
    StatefulSetState,
    condemned_step,
    next_outdated,
    observe,
    status,
    step,
    template_for,
)
from sampan.controllers.stateful_set.pods import ClaimTerminating, StatefulPods
from sampan.controllers.status import status_of, write_status
from sampan.controllers.workloads.availability import next_available_s
from sampan.controllers.workloads.history import RevisionHistory, data_of, has_data, number_of, surplus
from sampan.controllers.workloads.ownership import Owned, OwnerGone, owners_of_pods
from sampan.controllers.workloads.slow_start import slow_start
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.kinds import apps_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.predicates import ONLY_DELETIONS
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "statefulset-controller"
WORKERS: Final = 5
HASH_LABEL: Final = "controller.kubernetes.io/hash"
_CACHE_MAX: Final = 10_000


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    StatefulSetController(context).start()


class StatefulSetController:
    """Creates, updates and deletes the Pods of StatefulSets."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._sets = context.manager.client.resource(STATEFUL_SETS, namespace="")
        self._informer = context.informer(STATEFUL_SETS)
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, STATEFUL_SETS)
        self._history = RevisionHistory(context, STATEFUL_SETS, hash_label=HASH_LABEL)
        self._equivalences = Equivalences(context.manager.client.direct)
        self._pods = StatefulPods(context, context.recorder(NAME))

    def start(self) -> None:
        """Register the controller with the manager."""
        (
            Builder(self._context.manager)
            .named(NAME)
            .for_(STATEFUL_SETS)
            .watches(POD_VIEW, owners_of_pods(STATEFUL_SETS, self._informer, _selector))
            .watches(CONTROLLER_REVISIONS, for_owner(STATEFUL_SETS))
            .watches(PERSISTENT_VOLUME_CLAIMS, self._sets_of_claim, predicates=[ONLY_DELETIONS])
            .with_options(max_concurrent_reconciles=WORKERS)
            .complete(self)
        )

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one set. Raises `ClientError`, `ClaimTerminating`."""
        try:
            stateful_set = await self._sets.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        selector = _selector(stateful_set)
        try:
            history = await self._history.claim(stateful_set, selector)
            pods = await self._owned.claim(stateful_set, selector, passes=_is_member(request.name))
        except OwnerGone:
            return None
        now = self._context.clock.now()
        state = observe(stateful_set, await self._revise(stateful_set, history), pods, now)
        failure: ClientError | ClaimTerminating | None = None
        if meta(stateful_set).deletion_timestamp is None:
            try:
                await self._manage(state)
            except (ClientError, ClaimTerminating) as error:
                failure = error
        try:
            await write_status(self._sets, stateful_set, status(state))
        except NotFound:
            return None
        if failure is not None:
            raise failure
        await self._delete_surplus_revisions(state, history)
        return Result(next_available_s(pods, state.min_ready_s, now))

    # Revisions.

    async def _revise(
        self, stateful_set: apps_v1.StatefulSet, history: Sequence[apps_v1.ControllerRevision]
    ) -> Revisions:
        """Return the revision of the current template, and the revision before the update."""
        status: apps_v1.StatefulSetStatus = status_of(stateful_set)
        collisions = status.get("collisionCount") or 0
        if meta(stateful_set).deletion_timestamp is not None:
            # The set is being deleted: do not create revisions that are deleted with it.
            return Revisions(_named(status.get("currentRevision")), _named(status.get("updateRevision")), collisions)
        data = data_of(stateful_set["spec"]["template"])
        same = [revision for revision in history if has_data(revision, data)]
        number = number_of(history[-1]) + 1 if history else 1
        if same and same[-1] is history[-1]:
            update = same[-1]
        elif same:
            update = await self._history.renumber(same[-1], number)
        elif history and await self._equivalences.is_equivalent(history[-1], stateful_set):
            update = history[-1]
        else:
            update, collisions = await self._history.create(stateful_set, data, number, collisions)
        named = (revision for revision in history if meta(revision).name == status.get("currentRevision"))
        return Revisions(next(named, update), update, collisions)

    async def _delete_surplus_revisions(
        self, state: StatefulSetState, history: Sequence[apps_v1.ControllerRevision]
    ) -> None:
        """Delete the oldest revisions beyond the history limit, except those that Pods use."""
        live = {revision_name_of(pod) for pod in state.pods}
        live |= {state.revisions.current_name, state.revisions.update_name}
        old = [revision for revision in history if meta(revision).name not in live]
        await self._history.delete(surplus(old, state.stateful_set["spec"].get("revisionHistoryLimit")))

    # Pods.

    async def _manage(self, state: StatefulSetState) -> None:
        """Create, keep and delete Pods, then do one step of the update."""
        places = list(state.replicas.items())
        condemned = state.condemned

        async def replica(index: int) -> bool:
            return await self._replica(state, *places[index])

        async def claims(index: int) -> bool:
            name, uid = condemned[index].metadata.name, condemned[index].metadata.uid
            await self._pods.keep_claims(state.stateful_set, name, uid)
            return True

        async def condemn(index: int) -> bool:
            return await self._condemned(state, condemned[index])

        for count, act in ((len(places), replica), (len(condemned), claims), (len(condemned), condemn)):
            if not await _for_all(count, act, ordered=state.is_ordered):
                return
        outdated = next_outdated(state)
        if outdated is not None:
            await self._pods.delete(state.stateful_set, outdated)

    async def _replica(self, state: StatefulSetState, ordinal: int, pod: Pod | None) -> bool:
        """Handle a desired Pod. Return False if later Pods have to wait."""
        stateful_set = state.stateful_set
        todo = step(state, pod)
        if pod is None:
            template, revision = template_for(state, ordinal)
            await self._pods.create(stateful_set, new_pod(stateful_set, template, ordinal, revision=revision))
            return False
        if todo is ReplicaAction.DELETE:
            await self._pods.delete(stateful_set, pod)
            return False
        if pod.status.phase == "Pending" and pod.metadata.deletion_timestamp is None:
            await self._pods.complete_claims(stateful_set, pod)
        if todo is ReplicaAction.WAIT:
            return False
        if not has_identity(pod) or not has_storage(stateful_set, pod):
            await self._pods.repair(stateful_set, pod)
        await self._pods.keep_claims(stateful_set, pod.metadata.name, pod.metadata.uid)
        return True

    async def _condemned(self, state: StatefulSetState, pod: Pod) -> bool:
        """Handle a surplus Pod. Return False if later Pods have to wait."""
        todo = condemned_step(state, pod)
        if todo is ReplicaAction.DELETE:
            await self._pods.delete(state.stateful_set, pod)
        return todo is ReplicaAction.KEEP

    def _sets_of_claim(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return the sets to which a deleted claim belongs by its name: they may have waited for its deletion."""
        sets = self._informer.lister().namespaced(ref.namespace).list()
        return [Request(ref.namespace, meta(each).name) for each in sets if is_claim_name(each, ref.name)]


async def _for_all(count: int, act: Callable[[int], Awaitable[bool]], *, ordered: bool) -> bool:
    """Call `act` for all indexes: in order until one returns False, or concurrently without regard to the results.

    Returns False if the ordered calls stopped early.
    """
    if ordered:
        for index in range(count):
            if not await act(index):
                return False
        return True

    async def each(index: int) -> None:
        await act(index)

    await slow_start(count, each)
    return True


def _named(revision: str | None) -> apps_v1.ControllerRevision:
    """Return a revision with only a name."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": revision or ""},
        "revision": 0,
    }


def _selector(stateful_set: apps_v1.StatefulSet) -> Selector:
    return selector_from_label_selector(stateful_set["spec"]["selector"])


def _is_member(name: str) -> Callable[[Pod], bool]:
    return lambda pod: parent_and_ordinal(pod.metadata.name)[0] == name


class Equivalences:
    """Compares older revisions with the current template. Positive results are cached for each generation of a set.

    A later version of the API may have more defaults. Then the template has them and older revisions do not. That alone
    must not replace Pods.
    Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go
    `setMatchesLatestExistingRevision` (1.36). Kubernetes applies the defaults locally; here the server applies them in
    a dry run.
    """

    def __init__(self, client: Client) -> None:
        self._sets = client.resource(STATEFUL_SETS, namespace="")
        self._equivalent: OrderedDict[str, tuple[int, str]] = OrderedDict()

    async def is_equivalent(self, revision: apps_v1.ControllerRevision, stateful_set: apps_v1.StatefulSet) -> bool:
        """Return True if a rollback to the revision would change nothing. Raises `TransportError`."""
        metadata = meta(stateful_set)
        key = (metadata.generation, meta(revision).resource_version)
        if self._equivalent.get(metadata.uid) == key:
            return True
        client = self._sets.in_namespace(metadata.namespace)
        patch = StrategicMergePatch({**revision["data"], "metadata": {"uid": metadata.uid}})
        try:
            restored = await client.patch(metadata.name, patch, WriteOptions(dry_run=True))
        except ApiError:
            return False
        restored_revision = {"data": data_of(restored["spec"]["template"])}
        if not has_data(restored_revision, data_of(stateful_set["spec"]["template"])):
            return False
        self._equivalent[metadata.uid] = key
        if len(self._equivalent) > _CACHE_MAX:
            self._equivalent.popitem(last=False)
        return True
