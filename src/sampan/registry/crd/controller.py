"""The CRD controller: accepts names, serves what is established, cleans up what is deleted.

Concurrency: one task reads the watch of all CRDs and handles them one by one, so names are given first come, first
served; the deletion of a CRD's objects runs in a task of its own, owned by `run`.
Source: apiextensions pkg/controller/{status,establish,finalizer,apiapproval,nonstructuralschema} (1.36).
"""

import asyncio
import logging

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.crd.conditions import is_true, make_condition, remove_condition, set_condition
from sampan.registry.crd.names import resolve
from sampan.registry.crd.provider import CLEANUP_FINALIZER, definition_of, storage_prefix
from sampan.registry.crd.validation import approval_state, is_protected_group
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.delete import DeleteOptions, delete
from sampan.registry.rest.update import Part, Transform, UpdateOptions, update
from sampan.registry.strategy import Context
from sampan.storage.encoding import decode
from sampan.storage.records import CacheReset, WatcherTooSlow

_log = logging.getLogger(__name__)
_GROUP, _RESOURCE = "apiextensions.k8s.io", "customresourcedefinitions"
_CONTEXT = Context(user="system:apiserver", groups=("system:masters",))
_RECHECK_S = 1.0


class CrdController:
    """One per cluster. `synced` is set when all CRDs that were there at the start are served."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._served: dict[str, tuple[str, object]] = {}
        self._deleting: set[str] = set()
        self.synced = asyncio.Event()

    @property
    def _endpoint(self) -> Endpoint:
        endpoint = self._cluster.endpoint(_GROUP, "v1", _RESOURCE)
        assert endpoint is not None
        return endpoint

    async def run(self) -> None:
        """Follow the CRDs until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    await self._follow(group)
                except (CacheReset, WatcherTooSlow):
                    _log.info("the watch of CRDs was reset; listing anew")

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        cache = self._endpoint.store.cache
        await cache.wait_ready()
        async with cache.watch(cache.prefix, initial=True) as watcher:
            batch = await watcher.next(0)
            for crd in sorted((decode(event.record.value) for _, event in batch.events), key=_age):
                await self._handle(crd, group)
            self.synced.set()
            while True:
                batch = await watcher.next(None)
                for kind, event in batch.events:
                    crd = decode(event.record.value)
                    if kind == "DELETED":
                        await self._gone(crd, group)
                    else:
                        await self._handle(crd, group)

    async def _handle(self, crd: Object, group: asyncio.TaskGroup) -> None:
        try:
            if crd["metadata"].get("deletionTimestamp"):
                await self._terminate(crd, group)
            else:
                await self._establish(crd)
        except StatusError as error:
            if error.reason not in (Reason.NOT_FOUND, Reason.CONFLICT):
                _log.warning("CRD %s: %s", crd["metadata"]["name"], error.message)

    async def _establish(self, crd: Object) -> None:
        """Accept the names; serve; say so in the status (in this order: who reads Established finds it served)."""
        now = format_time(self._cluster.clock.now())
        wanted = decode(self._endpoint.store.plain(crd))
        naming = resolve(wanted, self._cluster.reader.list(_GROUP, _RESOURCE))
        status = wanted.setdefault("status", {})
        status["acceptedNames"] = naming.accepted
        set_condition(wanted, naming.names_accepted, now)
        set_condition(wanted, naming.established, now)
        _approval_condition(wanted, now)
        if is_true(wanted, "Established"):
            self._serve(wanted)
        if wanted["status"] != crd.get("status"):
            await self._write_status(wanted)

    def _serve(self, crd: Object) -> None:
        name = crd["metadata"]["name"]
        shape = (crd["metadata"]["uid"], [crd["spec"], crd["status"]["acceptedNames"], _is_terminating(crd)])
        if self._served.get(name) == shape:
            return
        self._served[name] = shape
        object_meta = self._cluster.schemas.schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
        definition = definition_of(crd, self._cluster.compiler, object_meta)
        definition.terminating = _is_terminating(crd)
        self._cluster.serve(definition)

    async def _gone(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """A CRD has left and freed its names: others of its group may have wanted them."""
        name = crd["metadata"]["name"]
        if self._served.pop(name, None) is not None:
            await self._cluster.stop_serving(crd["spec"]["group"], crd["spec"]["names"]["plural"], storage_prefix(crd))
        for other in self._cluster.reader.list(_GROUP, _RESOURCE):
            if other["spec"]["group"] == crd["spec"]["group"] and not is_true(other, "NamesAccepted"):
                await self._handle(other, group)

    async def _terminate(self, crd: Object, group: asyncio.TaskGroup) -> None:
        name = crd["metadata"]["name"]
        if CLEANUP_FINALIZER not in crd["metadata"].get("finalizers", []):
            return
        if is_true(crd, "Established"):
            self._serve(crd)
        if name not in self._deleting:
            self._deleting.add(name)
            group.create_task(self._clean_up(crd), name=f"clean up {name}")

    async def _clean_up(self, crd: Object) -> None:
        """Delete all objects of a CRD, wait until they are gone, take the finalizer off."""
        name = crd["metadata"]["name"]
        text = "CustomResource deletion is in progress"
        try:
            await self._set_terminating(crd, True, "InstanceDeletionInProgress", text)
            while (  # noqa: ASYNC110 (finalizers elsewhere decide: there is no one event to wait for)
                self._served.get(name) is not None and await self._delete_instances(crd)
            ):
                await asyncio.sleep(_RECHECK_S)
            await self._set_terminating(crd, False, "InstanceDeletionCompleted", "removed all instances")
            await self._remove_finalizer(name)
        except StatusError as error:
            if error.reason is not Reason.NOT_FOUND:
                _log.warning("CRD %s cannot be cleaned up: %s", name, error.message)
        finally:
            self._deleting.discard(name)

    async def _delete_instances(self, crd: Object) -> int:
        """Delete what is there; gives how many objects are left (held by finalizers)."""
        spec = crd["spec"]
        storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
        definition = self._cluster.registry.get(spec["group"], spec["names"]["plural"])
        if definition is None:
            return 0
        store = self._cluster.make_endpoint(definition, definition.versions[storage]).store
        await store.cache.fresh()
        for record in store.cache.list(store.prefix).records:
            ctx = Context(user=_CONTEXT.user, groups=_CONTEXT.groups, namespace=record.namespace, name=record.name)
            try:
                await delete(store, ctx, record.name, DeleteOptions(clock=self._cluster.clock))
            except StatusError as error:
                if error.reason is not Reason.NOT_FOUND:
                    raise
        await store.cache.fresh()
        return len(store.cache)

    async def _set_terminating(self, crd: Object, status: bool, reason: str, message: str) -> None:
        now = format_time(self._cluster.clock.now())

        async def transform(old: Object | None, stored: bytes) -> Object:
            assert old is not None
            wanted: Object = decode(stored)
            set_condition(wanted, make_condition("Terminating", status, reason, message), now)
            return wanted

        await self._update(crd["metadata"]["name"], transform, Part.STATUS)

    async def _remove_finalizer(self, name: str) -> None:
        async def transform(old: Object | None, stored: bytes) -> Object:
            wanted: Object = decode(stored)
            metadata = wanted["metadata"]
            metadata["finalizers"] = [f for f in metadata.get("finalizers", []) if f != CLEANUP_FINALIZER]
            return wanted

        await self._update(name, transform, Part.ALL)

    async def _write_status(self, crd: Object) -> None:
        async def transform(old: Object | None, stored: bytes) -> Object:
            copy: Object = decode(self._endpoint.store.plain(crd))
            return copy

        await self._update(crd["metadata"]["name"], transform, Part.STATUS)

    async def _update(self, name: str, transform: Transform, part: Part) -> None:
        options = UpdateOptions(clock=self._cluster.clock, part=part, faults=lambda new, old: [])
        await update(self._endpoint.store, _CONTEXT, name, transform, options)


def _age(crd: Object) -> tuple[str, str]:
    return crd["metadata"].get("creationTimestamp", ""), crd["metadata"]["name"]


def _is_terminating(crd: Object) -> bool:
    return bool(crd["metadata"].get("deletionTimestamp"))


def _approval_condition(crd: Object, now: str) -> None:
    """KubernetesAPIApprovalPolicyConformant, for groups of the Kubernetes community."""
    kind = "KubernetesAPIApprovalPolicyConformant"
    if not is_protected_group(crd["spec"]["group"]):
        remove_condition(crd, kind)
        return
    state, message = approval_state(crd)
    reason = {
        "Missing": "MissingAnnotation",
        "Bypassed": "UnapprovedAnnotation",
        "Approved": "ApprovedAnnotation",
        "Invalid": "InvalidAnnotation",
    }[state]
    set_condition(crd, make_condition(kind, state == "Approved", reason, message), now)
