"""Reconcile one Deployment.

Concurrency: the manager runs the controller; each Deployment is reconciled by one worker at a time. Reads include the
controller's own earlier writes. ReplicaSets are changed only in the version that was read (resourceVersion). After a
conflict the Deployment is reconciled again.
Source: kube-controller-manager pkg/controller/deployment/{deployment_controller,sync,rolling,recreate}.go (1.36).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Final

from sampan.client import AlreadyExists, ApiError, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import DEPLOYMENTS, REPLICA_SETS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.deployment import status as deployment_status
from sampan.controllers.deployment.annotations import (
    REVISION,
    max_revision,
    new_annotations,
    revision_of,
    size_annotations,
)
from sampan.controllers.deployment.sizes import (
    Sizes,
    by_age,
    desired,
    is_rolling,
    is_scaling,
    max_surge,
    new_size,
    resized,
    shrunk,
    status_count,
)
from sampan.controllers.deployment.status import DeploymentState
from sampan.controllers.deployment.templates import (
    HASH_LABEL,
    find_new,
    labelled,
    replica_set_name,
    same_template,
    template_hash,
)
from sampan.controllers.status import find_status_condition, write_status
from sampan.controllers.workloads.ownership import Owned, OwnerGone, controller_of
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.core.json.values import same
from sampan.core.label_selectors import selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.kinds import apps_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.predicates import ONLY_DELETIONS
from sampan.operator.request import Request, Result
from sampan.resource import Object, dynamic, meta

NAME: Final = "deployment-controller"
WORKERS: Final = 5
_ALL_REVISIONS: Final = 2**31 - 1


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    DeploymentController(context).start()


class DeploymentController:
    """Rolls out, scales and pauses Deployments."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._clock = context.clock
        client = context.manager.client
        self._deployments = client.resource(DEPLOYMENTS, namespace="")
        self._replica_sets = client.resource(REPLICA_SETS, namespace="")
        self._owned: Owned[apps_v1.ReplicaSet] = Owned(context, dynamic(REPLICA_SETS), DEPLOYMENTS)
        self._pods: Owned[Pod] = Owned(context, POD_VIEW, REPLICA_SETS)
        self._recorder = context.recorder(NAME)

    def start(self) -> None:
        """Register the controller with the manager."""
        (
            Builder(self._context.manager)
            .named(NAME)
            .for_(DEPLOYMENTS)
            .watches(REPLICA_SETS, for_owner(DEPLOYMENTS))
            .watches(POD_VIEW, self._waiting_for_pod, predicates=[ONLY_DELETIONS])
            .with_options(max_concurrent_reconciles=WORKERS)
            .complete(self)
        )

    async def reconcile(self, request: Request) -> Result | None:
        """Read the state, make one change and write the status.

        Further steps follow from changes of the ReplicaSets.
        """
        try:
            deployment = await self._deployments.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        if deployment["spec"].get("selector") == {}:
            text = "This deployment is selecting all pods. A non-empty selector is required."
            self._recorder.warning(deployment, "SelectingAll", text)
            return None
        try:
            sets = await self._owned.claim(deployment, selector_from_label_selector(deployment["spec"]["selector"]))
        except OwnerGone:
            return None
        status = deployment_status.copied(deployment)
        if meta(deployment).deletion_timestamp is not None:
            await self._write_status(
                deployment, deployment_status.counted(_state(deployment, sets), status, self._clock)
            )
            return None
        self._note_pause(deployment, status)
        if deployment["spec"].get("paused") or is_scaling(deployment, sets):
            return await self._resize(deployment, sets, status)
        if is_rolling(deployment):
            return await self._roll(deployment, sets, status)
        return await self._recreate(deployment, sets, status)

    async def _waiting_for_pod(self, ref: Ref[Pod]) -> Iterable[Request]:
        """Return the Deployment with strategy Recreate that waits for the deletion of this old Pod.

        Its ReplicaSets do not count terminating Pods, so they may not change when the Pod is finally gone.
        """
        name = next((each.name for each in ref.owner_references if each.kind == REPLICA_SETS.kind), "")
        replica_set = await self._replica_sets.find(Request(ref.namespace, name)) if name else None
        owner = None if replica_set is None else controller_of(replica_set)
        if owner is None or owner.kind != DEPLOYMENTS.kind:
            return ()
        request = Request(ref.namespace, owner.name)
        deployment = await self._deployments.find(request)
        return () if deployment is None or is_rolling(deployment) else (request,)

    # The three ways: scale or pause, rolling update, recreate.

    async def _resize(
        self, deployment: apps_v1.Deployment, sets: Sequence[apps_v1.ReplicaSet], status: apps_v1.DeploymentStatus
    ) -> Result | None:
        """Scale a Deployment, or handle a paused one. No template is rolled out."""
        state = _state(deployment, sets)
        state = await self._revise(state, status)
        state = await self._size(state, resized(deployment, state.old, state.new), note=True)
        if deployment["spec"].get("paused"):
            await self._clean_up(deployment, state.old)
        await self._write_status(deployment, deployment_status.counted(state, status, self._clock))
        return None

    async def _roll(
        self, deployment: apps_v1.Deployment, sets: Sequence[apps_v1.ReplicaSet], status: apps_v1.DeploymentStatus
    ) -> Result | None:
        state = await self._with_new(_state(deployment, sets), status)
        if state.new is None:
            return None
        new = state.new
        size = new_size(deployment, state.every, desired(new))
        if size != desired(new):
            state = await self._size(state, {meta(new).name: size})
        else:
            smaller = shrunk(deployment, state.old, new)
            state = await self._size(state, smaller)
            if not smaller and deployment_status.is_done(deployment):
                await self._clean_up(deployment, state.old)
        return await self._write_progress(state, status)

    async def _recreate(
        self, deployment: apps_v1.Deployment, sets: Sequence[apps_v1.ReplicaSet], status: apps_v1.DeploymentStatus
    ) -> Result | None:
        state = await self._revise(_state(deployment, sets), status)
        alive = {meta(each).name: 0 for each in state.old if desired(each)}
        if alive:
            return await self._write_progress(await self._size(state, alive), status)
        if await self._old_pods_run(state):
            return await self._write_progress(state, status)
        state = await self._with_new(state, status)
        if state.new is None:
            return None
        state = await self._size(state, {meta(state.new).name: desired(deployment)})
        if deployment_status.is_done(deployment):
            await self._clean_up(deployment, state.old)
        return await self._write_progress(state, status)

    # Reading.

    async def _old_pods_run(self, state: DeploymentState) -> bool:
        """Return True if Pods of old templates still exist, including terminating ones."""
        if any(status_count(each, "replicas") for each in state.old):
            return True
        for each in state.old:
            if any(not pod.is_terminated for pod in await self._pods.of(each)):
                return True
        return False

    # Changing.

    async def _with_new(self, state: DeploymentState, status: apps_v1.DeploymentStatus) -> DeploymentState:
        """Return the state with the new ReplicaSet, which is created if it does not exist.

        If the creation fails temporarily, the result has no new ReplicaSet, and a later reconciliation retries.
        """
        return await (self._revise(state, status) if state.new is not None else self._create(state, status))

    async def _revise(self, state: DeploymentState, status: apps_v1.DeploymentStatus) -> DeploymentState:
        """Give the new ReplicaSet, if there is one, the newest revision and the Deployment's annotations."""
        deployment, new = state.deployment, state.new
        if new is None:
            return state
        annotations = new_annotations(deployment, meta(new).annotations, max_revision(state.old) + 1)
        ready_s = deployment["spec"].get("minReadySeconds", 0)
        if annotations != meta(new).annotations or ready_s != new["spec"].get("minReadySeconds", 0):
            new = await self._patch(
                new, {"metadata": {"annotations": annotations}, "spec": {"minReadySeconds": ready_s}}
            )
        deployment = await self._mark_revision(deployment, revision_of(new))
        if find_status_condition(status, deployment_status.PROGRESSING) is None:
            text = f'Found new replica set "{meta(new).name}"'
            deployment_status.progressing(deployment, status, "FoundNewReplicaSet", text, self._clock)
        return DeploymentState(deployment, state.old, new)

    async def _create(self, state: DeploymentState, status: apps_v1.DeploymentStatus) -> DeploymentState:
        deployment = state.deployment
        made = _new_replica_set(state)
        name, count = meta(made).name, desired(made)
        namespace = meta(deployment).namespace
        try:
            new = await self._replica_sets.in_namespace(namespace).create(made)
        except AlreadyExists:
            return await self._resolve_conflict(state, name, status)
        except ApiError as error:
            if error.has_cause(NAMESPACE_TERMINATING):
                return state
            text = f'Failed to create new replica set "{name}": {error}'
            deployment_status.progressing(deployment, status, "ReplicaSetCreateError", text, self._clock)
            await self._write_status(deployment, status)
            self._recorder.warning(deployment, "ReplicaSetCreateError", text)
            raise
        if count:
            self._recorder.normal(deployment, "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {count}")
        deployment = await self._mark_revision(deployment, revision_of(new))
        text = f'Created new replica set "{name}"'
        deployment_status.progressing(deployment, status, "NewReplicaSetCreated", text, self._clock)
        return DeploymentState(deployment, state.old, new)

    async def _resolve_conflict(
        self, state: DeploymentState, name: str, status: apps_v1.DeploymentStatus
    ) -> DeploymentState:
        """Handle a name conflict of the new ReplicaSet.

        Either an earlier reconciliation created it and was interrupted, or the name belongs to another template.
        """
        deployment = state.deployment
        direct = self._context.manager.client.direct.resource(REPLICA_SETS, namespace=meta(deployment).namespace)
        existing = await direct.get(name)
        owner = controller_of(existing)
        template = deployment["spec"]["template"]
        if (
            owner is not None
            and owner.uid == meta(deployment).uid
            and same_template(existing["spec"]["template"], template)
        ):
            return await self._revise(DeploymentState(deployment, state.old, existing), status)
        status["collisionCount"] = int(status.get("collisionCount") or 0) + 1
        await self._write_status(deployment, status)
        return state

    async def _size(self, state: DeploymentState, sizes: Sizes, *, note: bool = False) -> DeploymentState:
        """Scale the ReplicaSets. With `note`, also record the Deployment's size on ReplicaSets that keep their size."""
        changed = {}
        for each in state.every:
            size = sizes.get(meta(each).name)
            if size is not None:
                changed[meta(each).uid] = await self._scale(state.deployment, each, size, note=note)
        old = [changed.get(meta(each).uid, each) for each in state.old]
        new = changed.get(meta(state.new).uid, state.new) if state.new is not None else None
        return DeploymentState(state.deployment, old, new)

    async def _scale(
        self, deployment: apps_v1.Deployment, replica_set: apps_v1.ReplicaSet, size: int, *, note: bool
    ) -> apps_v1.ReplicaSet:
        before, name = desired(replica_set), meta(replica_set).name
        total = desired(deployment)
        noted = size_annotations(total, total + max_surge(deployment))
        is_noted = noted.items() <= meta(replica_set).annotations.items()
        if before == size and (is_noted or not note):
            return replica_set
        scaled = await self._patch(replica_set, {"metadata": {"annotations": noted}, "spec": {"replicas": size}})
        if before != size:
            way = "up" if before < size else "down"
            text = f"Scaled {way} replica set {name} from {before} to {size}"
            self._recorder.normal(deployment, "ScalingReplicaSet", text)
        return scaled

    async def _patch(self, replica_set: apps_v1.ReplicaSet, change: Object) -> apps_v1.ReplicaSet:
        metadata = meta(replica_set)
        lock = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        patch = MergePatch({**change, "metadata": {**(change.get("metadata") or {}), **lock}})
        return await self._replica_sets.in_namespace(metadata.namespace).patch(metadata.name, patch)

    async def _clean_up(self, deployment: apps_v1.Deployment, old: Sequence[apps_v1.ReplicaSet]) -> None:
        """Delete the oldest ReplicaSets beyond the revision history limit, if they have no Pods left."""
        limit = deployment["spec"].get("revisionHistoryLimit")
        if limit is None or limit == _ALL_REVISIONS:
            return
        candidates = [each for each in old if meta(each).deletion_timestamp is None]
        candidates.sort(key=lambda each: (revision_of(each), *by_age(each)))
        for each in candidates[: max(0, len(candidates) - limit)]:
            metadata = meta(each)
            is_behind = metadata.generation > status_count(each, "observedGeneration")
            if status_count(each, "replicas") or desired(each) or is_behind:
                continue
            options = DeleteOptions(uid=metadata.uid, resource_version=metadata.resource_version)
            try:
                await self._replica_sets.in_namespace(metadata.namespace).delete(metadata.name, options)
            except NotFound:
                continue

    # Status.

    def _note_pause(self, deployment: apps_v1.Deployment, status: apps_v1.DeploymentStatus) -> None:
        """Record a pause or its end in the condition Progressing.

        The progress deadline does not apply to a paused Deployment.
        """
        condition = find_status_condition(status, deployment_status.PROGRESSING)
        reason = condition.get("reason") if condition is not None else ""
        paused = bool(deployment["spec"].get("paused"))
        if reason == deployment_status.TIMED_OUT or paused == (reason == "DeploymentPaused"):
            return
        word = "Paused" if paused else "Resumed"
        text = f"Deployment is {word.lower()}"
        deployment_status.progressing(deployment, status, f"Deployment{word}", text, self._clock)

    async def _mark_revision(self, deployment: apps_v1.Deployment, revision: int) -> apps_v1.Deployment:
        """Write the revision to the Deployment for users. A status patch keeps its generation unchanged.

        Return the Deployment for later writes: the new version, unless another client has changed its status.
        """
        if not revision or revision_of(deployment) == revision:
            return deployment
        patch = MergePatch({"metadata": {"annotations": {REVISION: str(revision)}}})
        deployments = self._deployments.in_namespace(meta(deployment).namespace)
        marked = await deployments.status.patch(meta(deployment).name, patch)
        return marked if same(marked.get("status"), deployment.get("status")) else deployment

    async def _write_progress(self, state: DeploymentState, status: apps_v1.DeploymentStatus) -> Result | None:
        """Write the status of a rollout, and requeue the Deployment at its progress deadline."""
        deployment = state.deployment
        await self._write_status(deployment, deployment_status.rolled_out(state, status, self._clock))
        left_s = deployment_status.overdue_s(deployment, status, self._clock.now())
        if left_s is None or deployment_status.is_complete(deployment, status):
            return None
        return Result(left_s + 1.0)

    async def _write_status(self, deployment: apps_v1.Deployment, status: apps_v1.DeploymentStatus) -> None:
        try:
            await write_status(self._deployments, deployment, status)
        except NotFound:
            return


def _state(deployment: apps_v1.Deployment, sets: Sequence[apps_v1.ReplicaSet]) -> DeploymentState:
    new = find_new(deployment["spec"]["template"], sets)
    return DeploymentState(deployment, [each for each in sets if each is not new], new)


def _new_replica_set(state: DeploymentState) -> apps_v1.ReplicaSet:
    deployment = state.deployment
    spec = deployment["spec"]
    collisions = (deployment.get("status") or {}).get("collisionCount")
    hashed = template_hash(spec["template"], collisions)
    template = labelled(spec["template"], hashed)
    selector = copy.deepcopy(spec["selector"])
    selector.setdefault("matchLabels", {})[HASH_LABEL] = hashed
    total = desired(deployment)
    annotations = new_annotations(deployment, {}, max_revision(state.old) + 1)
    made: apps_v1.ReplicaSet = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": replica_set_name(meta(deployment).name, hashed),
            "namespace": meta(deployment).namespace,
            "labels": template["metadata"]["labels"],
            "annotations": {**annotations, **size_annotations(total, total + max_surge(deployment))},
        },
        "spec": {
            "replicas": new_size(deployment, state.old, 0),
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": template,
        },
    }
    set_controller_reference(deployment, made)
    return made
