"""Deletion of a CRD: delete its objects, then remove its finalizer.

Concurrency: the CRD controller owns one task of `CleanUp.run` for each CRD that is being deleted. A run can start again
at any time, for example after a restart, because each step reads the current state.
Source: apiextensions pkg/controller/finalizer/crd_finalizer.go (1.36).
"""

import asyncio
import logging

import msgspec

from sampan.core.errors import Reason, StatusError, listed
from sampan.core.event_loop.offload import begin_work
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.crd.conditions import Condition, is_true, make_condition, set_condition
from sampan.registry.crd.provider import CLEANUP_FINALIZER
from sampan.registry.crd.tracking import track_status
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context
from sampan.registry.write.own import Edit, UpdateOptions, delete, update
from sampan.registry.write.write import Part
from sampan.storage.records import Record, WatchEnded
from sampan.storage.store import STORE_ERRORS, StoreError

_log = logging.getLogger(__name__)
_CONTEXT = Context(user="system:apiserver", groups=("system:masters",))
_CONCURRENCY_MAX = 64
"""Maximum number of concurrent deletions."""
RECHECK_S = 1.0
"""Seconds between checks of the remaining objects if no event arrives."""
SHOWN_S = 0.5
"""Seconds for which a CRD that has further finalizers shows that it is Terminating. Kubernetes reads from etcd in that
time; clients wait for the condition.
"""
CONFIRM_TIMEOUT_S = 60.0
"""Seconds to wait before the status reports remaining objects. The deletion continues to wait after that."""


class CleanUp:
    """Deletion of the objects of one CRD. `endpoint` serves CRDs."""

    def __init__(self, cluster: Cluster, endpoint: Endpoint, crd: Object) -> None:
        self._cluster = cluster
        self._endpoint = endpoint
        self._crd = crd
        self._name: str = crd["metadata"]["name"]

    async def run(self) -> None:
        """Delete the objects, wait until they are gone and remove the finalizer. Retry on errors; return if the CRD is
        gone.
        """
        while True:
            try:
                await self._release(await self._delete_instances())
                return
            except (StatusError, *STORE_ERRORS) as error:
                if isinstance(error, StatusError) and error.reason is Reason.NOT_FOUND:
                    return
                _log.warning("cannot clean up CRD %s: %s; retrying", self._name, error)
            await asyncio.sleep(RECHECK_S)

    async def _delete_instances(self) -> Condition:
        """Delete the custom resources. Return the final `Terminating` condition."""
        spec = self._crd["spec"]
        await self._set_terminating("InstanceDeletionInProgress", "CustomResource deletion is in progress")
        definition = self._cluster.registry.get(spec["group"], spec["names"]["plural"])
        if definition is not None and definition.builtin:
            text = "instances overlap with built-in resources in storage"
            return make_condition("Terminating", False, "OverlappingBuiltInResource", text)
        if not is_true(self._crd, "Established"):
            return make_condition("Terminating", False, "NeverEstablished", "resource was never established")
        if definition is not None and not definition.terminating:
            # At once, not with the event: an object that is created after the last one is deleted would stay.
            definition.terminating = True
            self._cluster.registry.add(definition)
        await self._delete_all()
        if set(self._crd["metadata"]["finalizers"]) != {CLEANUP_FINALIZER}:
            await asyncio.sleep(SHOWN_S)
        return make_condition("Terminating", False, "InstanceDeletionCompleted", "removed all instances")

    async def _delete_all(self) -> None:
        loop = asyncio.get_running_loop()
        deadline, late = loop.time() + CONFIRM_TIMEOUT_S, False
        while (store := self._instances()) is not None:
            try:
                left, faults = await self._delete_present(store)
                if not left:
                    return
            except (StatusError, StoreError) as error:
                if not self._is_served_by(store):
                    continue  # Another server finished first; there is nothing left to delete.
                faults = [str(error)]
            if faults:
                text = faults[0] if len(faults) == 1 else f"[{listed(faults)}]"
                _log.warning("cannot delete the objects of CRD %s: %s; retrying", self._name, text)
                await self._set_terminating("InstanceDeletionFailed", f"could not issue all deletes: {text}")
            if not late and loop.time() > deadline:
                late = True
                text = "could not confirm zero CustomResources remaining: timed out waiting for the condition"
                await self._set_terminating("InstanceDeletionCheck", text)
            await _next_change(store)

    def _is_served_by(self, store: ResourceStore) -> bool:
        return self._cluster.caches.get(store.prefix) is store.cache

    def _instances(self) -> ResourceStore | None:
        spec = self._crd["spec"]
        definition = self._cluster.registry.get(spec["group"], spec["names"]["plural"])
        if definition is None:
            return None
        return self._cluster.make_endpoint(definition, definition.versions[definition.storage_version]).store

    async def _delete_present(self, store: ResourceStore) -> tuple[int, list[str]]:
        """Delete the current objects. Return the number of objects that remain, and the first error of each
        namespace. Objects also remain because of finalizers.
        """
        await store.cache.fresh()
        records = store.cache.list(store.prefix).records
        faults: dict[str, str] = {}
        for start in range(0, len(records), _CONCURRENCY_MAX):
            async with asyncio.TaskGroup() as group:
                for record in records[start : start + _CONCURRENCY_MAX]:
                    group.create_task(self._delete_one(store, record, faults))
        await store.cache.fresh()
        return len(store.cache), list(dict.fromkeys(faults.values()))

    async def _delete_one(self, store: ResourceStore, record: Record, faults: dict[str, str]) -> None:
        """Delete an object. If that fails, add the error to `faults`, unless its namespace has one."""
        ctx = Context(user=_CONTEXT.user, groups=_CONTEXT.groups, namespace=record.namespace, name=record.name)
        try:
            await delete(store, ctx, self._cluster.clock)
        except (StatusError, *STORE_ERRORS) as error:
            is_gone = isinstance(error, StatusError) and error.reason is Reason.NOT_FOUND
            if not is_gone and self._is_served_by(store):
                faults.setdefault(record.namespace, str(error))

    async def _set_terminating(self, reason: str, message: str) -> None:
        now = format_time(self._cluster.clock.now())

        def edit(desired: Object, old: Object) -> None:
            set_condition(desired, make_condition("Terminating", True, reason, message), now)
            track_status(self._endpoint, old, desired, self._cluster.clock)

        await self._update(edit, Part.STATUS)

    async def _release(self, condition: Condition) -> None:
        now = format_time(self._cluster.clock.now())

        def edit(desired: Object, old: Object) -> None:
            metadata = desired["metadata"]
            metadata["finalizers"] = [name for name in metadata.get("finalizers", ()) if name != CLEANUP_FINALIZER]
            if not metadata["finalizers"]:
                del metadata["finalizers"]
            set_condition(desired, condition, now)
            track_status(self._endpoint, old, desired, self._cluster.clock)

        await self._update(edit, Part.ALL)

    async def _update(self, edit: Edit, part: Part) -> None:
        options = UpdateOptions(part=part, uid=self._crd["metadata"]["uid"], faults=lambda new, old: [])
        ctx = msgspec.structs.replace(_CONTEXT, name=self._name)
        begin_work(self._cluster.offload)
        await update(self._endpoint.store, ctx, edit, self._cluster.clock, options)


async def _next_change(store: ResourceStore) -> None:
    """Wait until an object changes, but at most `RECHECK_S`."""
    try:
        async with store.cache.watch(store.prefix, after=store.cache.revision) as watcher:
            await watcher.next(RECHECK_S)
    except WatchEnded:
        await asyncio.sleep(RECHECK_S)
