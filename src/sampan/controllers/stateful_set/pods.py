"""Creation, repair and deletion of a StatefulSet's Pods and their claims, recorded as events.

Source: kube-controller-manager pkg/controller/statefulset/stateful_pod_control.go (1.36).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from sampan.client import AlreadyExists, ApiError, ClientError, DeleteOptions, MergePatch, NotFound, retry_on_conflict
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from sampan.component_base.views import Pod
from sampan.controllers.stateful_set.identity import (
    POD_INDEX_LABEL,
    POD_NAME_LABEL,
    claims_of,
    has_storage,
    parent_and_ordinal,
    with_claims,
)
from sampan.controllers.stateful_set.retention import Owners, has_other_controller, is_left_over, new_references, owners
from sampan.controllers.workloads.ownership import as_dict
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.kinds import apps_v1, core_v1
from sampan.operator.caches.cached_client import CachedResourceClient
from sampan.operator.events import EventRecorder
from sampan.operator.request import RetryLater
from sampan.resource import meta

_PAST: Final = {"Create": "SuccessfulCreate", "Update": "SuccessfulUpdate", "Delete": "SuccessfulDelete"}
_FAILED: Final = {"Create": "FailedCreate", "Update": "FailedUpdate", "Delete": "FailedDelete"}


class ClaimTerminating(RetryLater):
    """A claim that a Pod needs is being deleted. It must be gone before a new one can be created."""


class StatefulPods:
    """Creates, repairs and deletes the Pods of StatefulSets with their claims."""

    def __init__(self, context: ControllerContext, recorder: EventRecorder) -> None:
        context.informer(PERSISTENT_VOLUME_CLAIMS)
        pods: CachedResourceClient[Any] = context.manager.client.resource(PODS, namespace="")
        self._pods: CachedResourceClient[core_v1.Pod] = pods
        claims: CachedResourceClient[Any] = context.manager.client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._claims: CachedResourceClient[core_v1.PersistentVolumeClaim] = claims
        self._recorder = recorder

    async def create(self, stateful_set: apps_v1.StatefulSet, pod: core_v1.Pod) -> bool:
        """Create a Pod after its claims. Return False if it has to wait for the deletion of an earlier Pod's claims.

        Raises `AlreadyExists`, `ClaimTerminating`, `ApiError`, `TransportError`.
        """
        name = meta(pod).name
        if await self._has_left_over_claims(stateful_set, name):
            return False
        try:
            await self._create_claims(stateful_set, name)
            await self._pods.in_namespace(meta(stateful_set).namespace).create(pod)
        except AlreadyExists:
            raise
        except (ClientError, ClaimTerminating) as error:
            if isinstance(error, ApiError) and error.has_cause(NAMESPACE_TERMINATING):
                return False
            self._record("Create", stateful_set, name, error)
            raise
        await self.keep_claims(stateful_set, name, "")
        self._record("Create", stateful_set, name)
        return True

    async def delete(self, stateful_set: apps_v1.StatefulSet, pod: Pod) -> None:
        """Delete a Pod, identified by its UID. Raises `ApiError`, `TransportError`."""
        metadata = pod.metadata
        try:
            await self._pods.in_namespace(metadata.namespace).delete(metadata.name, DeleteOptions(uid=metadata.uid))
        except NotFound:
            pass
        except ApiError as error:
            self._record("Delete", stateful_set, metadata.name, error)
            raise
        self._record("Delete", stateful_set, metadata.name)

    async def complete_claims(self, stateful_set: apps_v1.StatefulSet, pod: Pod) -> None:
        """Create the missing claims of a Pod. Raises as `create`."""
        await self._create_claims(stateful_set, pod.metadata.name)
        await self.keep_claims(stateful_set, pod.metadata.name, pod.metadata.uid)

    async def repair(self, stateful_set: apps_v1.StatefulSet, pod: Pod) -> None:
        """Restore the identity labels and volumes of a Pod, and create its missing claims.

        Raises as `create`.
        """
        name, uid = pod.metadata.name, pod.metadata.uid
        try:
            if not has_storage(stateful_set, pod):
                await self._create_claims(stateful_set, name)
            await retry_on_conflict(lambda: self._repair(stateful_set, name, uid))
        except (ClientError, ClaimTerminating) as error:
            self._record("Update", stateful_set, name, error)
            raise
        self._record("Update", stateful_set, name)

    async def keep_claims(self, stateful_set: apps_v1.StatefulSet, pod_name: str, pod_uid: str) -> None:
        """Set the owners of a Pod's claims according to the retention policy. Raises `ApiError`, `TransportError`."""
        ordinal = parent_and_ordinal(pod_name)[1]
        candidates = owners(stateful_set, ordinal, pod_name=pod_name, pod_uid=pod_uid)
        try:
            for desired in claims_of(stateful_set, ordinal).values():
                await retry_on_conflict(partial(self._keep_claim, stateful_set, desired, candidates))
        except ApiError as error:
            self._record("Update", stateful_set, pod_name, error)
            raise

    async def _keep_claim(
        self, stateful_set: apps_v1.StatefulSet, desired: core_v1.PersistentVolumeClaim, candidates: Owners
    ) -> None:
        claim = await self._claim(desired)
        if claim is None:
            return
        metadata = meta(claim)
        references = metadata.owner_references
        if has_other_controller(references, candidates):
            text = (
                f"PersistentVolumeClaim {metadata.name} has a conflicting OwnerReference that acts as a manging "
                "controller, the retention policy is ignored for this claim"
            )
            self._recorder.warning(stateful_set, "ConflictingController", text)
        new = new_references(references, candidates)
        if new is None:
            return
        changed = [as_dict(reference) for reference in new]
        lock = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        patch = MergePatch({"metadata": {**lock, "ownerReferences": changed or None}})
        await self._claims.in_namespace(metadata.namespace).patch(metadata.name, patch)

    async def _repair(self, stateful_set: apps_v1.StatefulSet, name: str, uid: str) -> None:
        client = self._pods.in_namespace(meta(stateful_set).namespace)
        pod = await client.get(name)
        if meta(pod).uid != uid:
            return
        ordinal = parent_and_ordinal(name)[1]
        meta(pod).labels |= {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal)}
        pod["spec"]["volumes"] = with_claims(stateful_set, ordinal, pod["spec"].get("volumes") or [])
        await client.update(pod)

    async def _has_left_over_claims(self, stateful_set: apps_v1.StatefulSet, pod_name: str) -> bool:
        ordinal = parent_and_ordinal(pod_name)[1]
        for desired in claims_of(stateful_set, ordinal).values():
            claim = await self._claim(desired)
            candidates = owners(stateful_set, ordinal, pod_name=pod_name, pod_uid="")
            if claim is not None and is_left_over(meta(claim).owner_references, candidates):
                return True
        return False

    async def _create_claims(self, stateful_set: apps_v1.StatefulSet, pod_name: str) -> None:
        for desired in claims_of(stateful_set, parent_and_ordinal(pod_name)[1]).values():
            name = meta(desired).name
            claim = await self._claim(desired)
            if claim is not None and meta(claim).deletion_timestamp is not None:
                raise ClaimTerminating(f"pvc {name} is being deleted")
            if claim is not None:
                continue
            where = f"Claim {name} Pod {pod_name} in StatefulSet {meta(stateful_set).name}"
            try:
                await self._claims.in_namespace(meta(stateful_set).namespace).create(desired)
            except AlreadyExists:
                raise
            except ApiError as error:
                if error.has_cause(NAMESPACE_TERMINATING):
                    raise
                where = f"Claim {name} for Pod {pod_name} in StatefulSet {meta(stateful_set).name}"
                self._recorder.warning(stateful_set, "FailedCreate", f"Create {where} failed error: {error}")
                raise
            self._recorder.normal(stateful_set, "SuccessfulCreate", f"Create {where} success")

    async def _claim(self, desired: core_v1.PersistentVolumeClaim) -> core_v1.PersistentVolumeClaim | None:
        metadata = meta(desired)
        try:
            return await self._claims.in_namespace(metadata.namespace).get(metadata.name)
        except NotFound:
            return None

    def _record(
        self, verb: str, stateful_set: apps_v1.StatefulSet, pod_name: str, error: Exception | None = None
    ) -> None:
        text = f"{verb} Pod {pod_name} in StatefulSet {meta(stateful_set).name}"
        if error is None:
            self._recorder.normal(stateful_set, _PAST[verb], f"{text} successful")
        else:
            self._recorder.warning(stateful_set, _FAILED[verb], f"{text} failed error: {error}")
