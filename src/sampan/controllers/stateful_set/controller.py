"""Reconcile one StatefulSet.

Concurrency: the manager runs the controller; one set is looked at by one worker at a time. Reads see what was written
here before. In order, a look does one thing to one Pod, and the next look follows from that; in parallel, it deals with
all Pods at once.
Source: kube-controller-manager pkg/controller/statefulset/{stateful_set,stateful_set_control}.go (1.36).
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from sampan.client import ClientError, NotFound
from sampan.controllers.availability import next_available_s
from sampan.controllers.history import History, data_of, number_of, says_same, surplus
from sampan.controllers.ownership import Owned, OwnerGone, owners_of_pods
from sampan.controllers.slow_start import slow_start
from sampan.controllers.stateful_set.equivalence import Equivalences
from sampan.controllers.stateful_set.identity import (
    has_identity,
    has_storage,
    is_claim_name,
    new_pod,
    parent_and_ordinal,
    revision_name_of,
)
from sampan.controllers.stateful_set.plan import (
    Revisions,
    Seen,
    Step,
    condemned_step,
    look,
    next_outdated,
    status,
    step,
    template_for,
)
from sampan.controllers.stateful_set.pods import ClaimTerminating, StatefulPods
from sampan.controllers.status import write_status
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS
from sampan.loops.views import POD_VIEW, Pod
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.predicates import ONLY_DELETIONS
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "statefulset-controller"
WORKERS: Final = 5
HASH_LABEL: Final = "controller.kubernetes.io/hash"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    StatefulSetController(context).start()


class StatefulSetController:
    """Keeps the Pods of StatefulSets."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._sets = context.manager.client.resource(STATEFUL_SETS, namespace="")
        self._informer = context.informer(STATEFUL_SETS)
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, STATEFUL_SETS)
        self._history = History(context, STATEFUL_SETS, hash_label=HASH_LABEL)
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
        """Reconcile one set."""
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
        seen = look(stateful_set, await self._revise(stateful_set, history), pods, now)
        failure: ClientError | ClaimTerminating | None = None
        if meta(stateful_set).deletion_timestamp is None:
            try:
                await self._manage(seen)
            except (ClientError, ClaimTerminating) as error:
                failure = error
        try:
            await write_status(self._sets, stateful_set, status(seen))
        except NotFound:
            return None
        if failure is not None:
            raise failure
        await self._forget(seen, history)
        return Result(next_available_s(pods, seen.min_ready_s, now))

    # Revisions.

    async def _revise(self, stateful_set: Object, history: Sequence[Object]) -> Revisions:
        """The revision of the template that is wanted now, and the one that the Pods had before."""
        told = stateful_set.get("status") or {}
        collisions = int(told.get("collisionCount") or 0)
        if meta(stateful_set).deletion_timestamp is not None:
            # What is deleted with the set must not be made again.
            return Revisions(_named(told.get("currentRevision")), _named(told.get("updateRevision")), collisions)
        data = data_of(stateful_set["spec"]["template"])
        same = [revision for revision in history if says_same(revision, data)]
        number = number_of(history[-1]) + 1 if history else 1
        if same and same[-1] is history[-1]:
            update = same[-1]
        elif same:
            update = await self._history.renumber(same[-1], number)
        elif history and await self._equivalences.means_same(history[-1], stateful_set):
            update = history[-1]
        else:
            update, collisions = await self._history.create(stateful_set, data, number, collisions)
        named = (revision for revision in history if meta(revision).name == told.get("currentRevision"))
        return Revisions(next(named, update), update, collisions)

    async def _forget(self, seen: Seen, history: Sequence[Object]) -> None:
        """Delete the oldest revisions beyond the limit; those that Pods are of stay."""
        live = {revision_name_of(pod) for pod in seen.pods}
        live |= {seen.revisions.current_name, seen.revisions.update_name}
        old = [revision for revision in history if meta(revision).name not in live]
        await self._history.delete(surplus(old, seen.stateful_set["spec"].get("revisionHistoryLimit")))

    # Pods.

    async def _manage(self, seen: Seen) -> None:
        """Make, keep, and delete Pods; then one step of the roll-out."""
        places = list(seen.replicas.items())
        condemned = seen.condemned

        async def replica(index: int) -> bool:
            return await self._replica(seen, *places[index])

        async def claims(index: int) -> bool:
            name, uid = condemned[index].metadata.name, condemned[index].metadata.uid
            await self._pods.keep_claims(seen.stateful_set, name, uid)
            return True

        async def condemn(index: int) -> bool:
            return await self._condemned(seen, condemned[index])

        for count, act in ((len(places), replica), (len(condemned), claims), (len(condemned), condemn)):
            if not await _for_all(count, act, ordered=seen.is_ordered):
                return
        outdated = next_outdated(seen)
        if outdated is not None:
            await self._pods.delete(seen.stateful_set, outdated)

    async def _replica(self, seen: Seen, ordinal: int, pod: Pod | None) -> bool:
        """Deal with a Pod that should be there. False: those after it have to wait."""
        stateful_set = seen.stateful_set
        todo = step(seen, pod)
        if pod is None:
            template, revision = template_for(seen, ordinal)
            await self._pods.create(stateful_set, new_pod(stateful_set, template, ordinal, revision=revision))
            return False
        if todo is Step.DELETE:
            await self._pods.delete(stateful_set, pod)
            return False
        if pod.status.phase == "Pending" and pod.metadata.deletion_timestamp is None:
            await self._pods.complete_claims(stateful_set, pod)
        if todo is Step.WAIT:
            return False
        if not has_identity(pod) or not has_storage(stateful_set, pod):
            await self._pods.mend(stateful_set, pod)
        await self._pods.keep_claims(stateful_set, pod.metadata.name, pod.metadata.uid)
        return True

    async def _condemned(self, seen: Seen, pod: Pod) -> bool:
        """Deal with a Pod that is too many. False: those after it have to wait."""
        todo = condemned_step(seen, pod)
        if todo is Step.DELETE:
            await self._pods.delete(seen.stateful_set, pod)
        return todo is Step.KEEP

    def _sets_of_claim(self, ref: Ref[Any]) -> Iterable[Request]:
        """The sets that a claim that is gone was one of by its name: they may have waited for that."""
        sets = self._informer.lister().namespaced(ref.namespace).list()
        return [Request(ref.namespace, meta(each).name) for each in sets if is_claim_name(each, ref.name)]


async def _for_all(count: int, act: Callable[[int], Awaitable[bool]], *, ordered: bool) -> bool:
    """In order until one says that the others have to wait (False then); or all at once, whatever they say."""
    if ordered:
        for index in range(count):
            if not await act(index):
                return False
        return True

    async def each(index: int) -> None:
        await act(index)

    await slow_start(count, each)
    return True


def _named(revision: str | None) -> Object:
    """A revision of which no more than the name is needed."""
    return {"metadata": {"name": revision or ""}}


def _selector(stateful_set: Object) -> Selector:
    return selector_from_label_selector(stateful_set["spec"]["selector"])


def _is_member(name: str) -> Callable[[Pod], bool]:
    return lambda pod: parent_and_ordinal(pod.metadata.name)[0] == name
