"""CRD controller: accepts names, serves established CRDs and cleans up deleted ones.

Concurrency: one task reads the watch of all CRDs and handles them one by one, so the first CRD that requests a name
gets it. `run` owns a task for each CRD whose objects are being deleted. After a failure the controller retries after
`RETRY_S`, with the state that the CRD has then. Threads decode and compare large CRDs.
Source: apiextensions pkg/controller/{status,establish,finalizer,apiapproval,nonstructuralschema} (1.36).
"""

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import msgspec

from sampan.core.errors import Reason, StatusError
from sampan.core.event_loop.offload import begin_work, is_large, note_size, offloaded
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.crd.conditions import is_true, set_condition
from sampan.registry.crd.hub_resource import GROUP as HUB_GROUP
from sampan.registry.crd.hub_resource import RESOURCE as HUB_RESOURCE
from sampan.registry.crd.names import ClaimedNames, Naming, resolve
from sampan.registry.crd.provider import CLEANUP_FINALIZER, definition_of, weigh
from sampan.registry.crd.tracking import track_status
from sampan.registry.crd.validation.conformance import note_approval, note_structure
from sampan.registry.crd_controller.cleanup import CleanUp
from sampan.registry.crd_controller.hub_controller import HubConversionController
from sampan.registry.definition import ResourceDefinition
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.storage.encoding import decode
from sampan.storage.records import CacheReset, Delivery, WatcherTooSlow
from sampan.storage.signal import Signal
from sampan.storage.store import STORE_ERRORS

_log = logging.getLogger(__name__)
_GROUP, _RESOURCE = "apiextensions.k8s.io", "customresourcedefinitions"
_CONTEXT = Context(user="system:apiserver", groups=("system:masters",))
_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
SETTLE_TIMEOUT_S = 5.0
"""Maximum time in seconds that the response to a write of a CRD waits until the write is in effect."""
RETRY_S = 1.0
"""Delay in seconds before the retry for a CRD that could not be handled."""


class _Change(NamedTuple):
    """Change of a CRD. `kind` is `DELETED` for a deletion; `size_bytes` is the size of the stored form."""

    kind: str
    crd: Object
    size_bytes: int


class CrdController:
    """Controller of the CRDs of one cluster. `synced` is set when all CRDs that existed at the start are served.

    With `read_only` it serves CRDs but writes nothing. Another server writes their status.
    """

    def __init__(self, cluster: Cluster, *, read_only: bool = False) -> None:
        self._cluster = cluster
        self._read_only = read_only
        self._work = cluster.measures.work("crd_controller")
        self._claims = ClaimedNames()
        self._served: dict[str, tuple[list[object], ResourceDefinition]] = {}
        self._cleaning: set[str] = set()
        self._failed: set[str] = set()
        self._handled = 0
        self._progress = Signal()
        self._lock = asyncio.Lock()
        self._hubs = HubConversionController(cluster, self._refresh, read_only=read_only)
        self.synced = asyncio.Event()

    @property
    def _endpoint(self) -> Endpoint:
        endpoint = self._cluster.endpoint(_GROUP, "v1", _RESOURCE)
        assert endpoint is not None
        return endpoint

    async def run(self) -> None:
        """Follow the CRDs until cancelled."""
        cluster = self._cluster
        with (
            cluster.settling(_GROUP, _RESOURCE, self.settled),
            cluster.settling(HUB_GROUP, HUB_RESOURCE, self._hubs.settled),
        ):
            has_hubs = cluster.extra_apis or await self._hubs.are_stored()
            if has_hubs:
                await self._hubs.begin()
            async with asyncio.TaskGroup() as group:
                if has_hubs:
                    group.create_task(self._hubs.run(), name="hub conversion controller")
                while True:
                    try:
                        await self._follow(group)
                    except (CacheReset, WatcherTooSlow):
                        _log.info("watch of CRDs was reset; listing again")

    async def settled(self) -> None:
        """Wait until all writes of CRDs up to now are in effect, but at most `SETTLE_TIMEOUT_S`."""
        cache = self._endpoint.store.cache
        await cache.fresh()
        target = cache.changed
        deadline = asyncio.get_running_loop().time() + SETTLE_TIMEOUT_S
        while self._handled < target:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or not await self._progress.wait(left):
                return

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        cache = self._endpoint.store.cache
        await cache.wait_ready()
        async with cache.watch(cache.prefix, initial=True, prompt=True) as watcher:
            batch = await watcher.next(0)
            async with self._lock:
                await self._begin(await self._latest(batch.events), group)
            self._note(batch.revision)
            self.synced.set()
            while True:
                batch = await watcher.next(RETRY_S if self._failed else None)
                async with self._lock:
                    await self._take(batch.events, group)
                    if not batch.events:
                        await self._retry(group)
                self._note(batch.revision)

    async def _take(self, events: Iterable[Delivery], group: asyncio.TaskGroup) -> None:
        changes = await self._latest(events)
        for change in changes:
            self._work.add(change.crd["metadata"]["name"])
        for change in changes:
            if change.kind == "DELETED":
                with self._work.at(change.crd["metadata"]["name"]):
                    await self._handle_deleted(change.crd, group)
            else:
                await self._handle(change.crd, change.size_bytes, group)

    async def _latest(self, events: Iterable[Delivery]) -> list[_Change]:
        """Decode the changes of a batch that matter: all deletions, and otherwise only the last state of each CRD."""
        latest = list(events)
        last = {event.record.key: index for index, (_, event) in enumerate(latest)}
        desired = [
            (kind, event.record.value)
            for index, (kind, event) in enumerate(latest)
            if kind == "DELETED" or last[event.record.key] == index
        ]
        self._begin_work(sum(len(value) for _, value in desired))
        return await offloaded(lambda: [_Change(kind, decode(value), len(value)) for kind, value in desired])

    def _begin_work(self, size_bytes: int) -> None:
        begin_work(self._cluster.offload)
        note_size(size_bytes)

    async def _retry(self, group: asyncio.TaskGroup) -> None:
        names, self._failed = self._failed, set()
        self._work.retries += len(names)
        await self._handle_present(sorted(names), group)

    async def _handle_present(self, names: Iterable[str], group: asyncio.TaskGroup) -> None:
        """Handle the current state of those named CRDs that exist."""
        cache = self._endpoint.store.cache
        for name in names:
            record = cache.get(cache.prefix + name)
            if record is not None:
                self._begin_work(len(record.value))
                await self._handle(await offloaded(decode, record.value), len(record.value), group)

    async def _refresh(self, name: str) -> None:
        """Serve a CRD again, because its conversion has changed. Do nothing if it is not served."""
        async with self._lock:
            record = self._endpoint.store.cache.get(self._endpoint.store.cache.prefix + name)
            if record is not None and name in self._served:
                self._begin_work(len(record.value))
                await self._serve(await offloaded(decode, record.value))

    def _note(self, revision: int) -> None:
        self._handled = max(self._handled, revision)
        self._progress.notify()

    async def _begin(self, changes: list[_Change], group: asyncio.TaskGroup) -> None:
        """Handle the first list of CRDs: record the names that were accepted before, then accept new ones."""
        changes = sorted(changes, key=lambda change: _age(change.crd))
        crds = [change.crd for change in changes]
        present = {crd["metadata"]["name"] for crd in crds}
        for name in self._served.keys() - present:
            await self._stop(name)
        for crd in crds:
            accepted = (crd.get("status") or {}).get("acceptedNames") or {}
            self._claims.hold(crd, accepted, satisfied=is_true(crd, "NamesAccepted"))
            self._work.add(crd["metadata"]["name"])
        for change in changes:
            await self._handle(change.crd, change.size_bytes, group)

    async def _handle(self, crd: Object, size_bytes: int, group: asyncio.TaskGroup) -> None:
        self._begin_work(size_bytes)
        with self._work.at(crd["metadata"]["name"]):
            await self._attempt(crd, group)

    async def _attempt(self, crd: Object, group: asyncio.TaskGroup) -> None:
        name = crd["metadata"]["name"]
        try:
            if crd["metadata"].get("deletionTimestamp"):
                await self._terminate(crd, group)
            else:
                await self._establish(crd, group)
        except StatusError as error:
            if error.reason not in (Reason.NOT_FOUND, Reason.CONFLICT):
                _log.warning("cannot handle CRD %s: %s; retrying", name, error.message)
                self._failed.add(name)
        except STORE_ERRORS as error:
            _log.warning("cannot handle CRD %s: %s; retrying", name, error)
            self._failed.add(name)
        except Exception:
            _log.exception("cannot serve CRD %s", name)

    async def _establish(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """Accept the names, serve the resource, then write the status.

        In this order a client that reads Established finds the resource served.
        """
        now = format_time(self._cluster.clock.now())
        naming = resolve(crd, self._claims.taken(crd))
        accepted = naming.names_accepted["status"] == "True"
        released = self._claims.hold(crd, naming.accepted, satisfied=accepted)
        desired: Object = await offloaded(self._with_status, crd, naming, now)
        if is_true(desired, "Established"):
            await self._serve(desired)
        if not same(desired["status"], crd.get("status")) and not self._read_only:
            await self._write_status(desired)
        if released:
            await self._reconsider(crd, group)

    def _with_status(self, crd: Object, naming: Naming, now: str) -> Object:
        desired: Object = decode(self._endpoint.store.plain(crd))
        desired.setdefault("status", {})["acceptedNames"] = naming.accepted
        set_condition(desired, naming.names_accepted, now)
        set_condition(desired, naming.established, now)
        note_approval(desired, now)
        note_structure(desired, now)
        return desired

    async def _reconsider(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """Handle again the other CRDs of the group that did not get a name. The names of `crd` have changed, so a name
        may be free now.
        """
        await self._handle_present(self._claims.losers(crd), group)

    async def _serve(self, crd: Object) -> None:
        name, spec = crd["metadata"]["name"], crd["spec"]
        shape = [crd["metadata"]["uid"], spec, crd["status"]["acceptedNames"], self._hubs.spec_of(name)]
        served = self._served.get(name)
        # The clean-up refuses new objects before the condition arrives here.
        cleaning = served is not None and served[1].terminating and crd["metadata"]["uid"] in self._cleaning
        terminating = is_true(crd, "Terminating") or cleaning
        if served is not None and await offloaded(lambda: served[0] == shape):
            if served[1].terminating != terminating:
                served[1].terminating = terminating
                self._cluster.registry.add(served[1])
            return
        present = self._cluster.registry.get(spec["group"], spec["names"]["plural"])
        if (spec["group"], spec["names"]["plural"]) == (HUB_GROUP, HUB_RESOURCE):
            return
        if present is not None and present.builtin:
            return
        definition = definition_of(
            crd,
            self._cluster.compiler,
            self._cluster.schemas.schema(_OBJECT_META),
            self._cluster.connect,
            rewritten_after=await self._changed_at(crd),
            converted=partial(self._cluster.measures.converted, name),
        )
        if is_large():
            await offloaded(weigh, definition)
        definition.hub = await self._hubs.conversion_of(name, definition)
        definition.terminating = terminating
        await self._cluster.serve(definition)
        self._served[name] = (shape, definition)

    async def _changed_at(self, crd: Object) -> int:
        """Return the last revision at which an object may have been written under an earlier spec of the CRD."""
        metadata = crd["metadata"]
        if metadata.get("generation", 1) <= 1:
            return 0
        return await self._cluster.store.revision() if self.synced.is_set() else int(metadata["resourceVersion"])

    async def _stop(self, name: str) -> None:
        served = self._served.pop(name, None)
        if served is not None:
            definition = served[1]
            await self._cluster.stop_serving(definition.group, definition.resource, definition.storage_prefix)

    async def _handle_deleted(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """Stop serving a deleted CRD and release its names."""
        await self._stop(crd["metadata"]["name"])
        self._claims.release(crd)
        await self._reconsider(crd, group)

    async def _terminate(self, crd: Object, group: asyncio.TaskGroup) -> None:
        if is_true(crd, "Established"):
            await self._serve(crd)
        uid = crd["metadata"]["uid"]
        if self._read_only:
            return
        if CLEANUP_FINALIZER in crd["metadata"].get("finalizers", ()) and uid not in self._cleaning:
            self._cleaning.add(uid)
            group.create_task(self._clean_up(crd), name=f"clean up {crd['metadata']['name']}")

    async def _clean_up(self, crd: Object) -> None:
        try:
            await CleanUp(self._cluster, self._endpoint, crd).run()
        finally:
            self._cleaning.discard(crd["metadata"]["uid"])
        await self._refresh(crd["metadata"]["name"])

    async def _write_status(self, crd: Object) -> None:
        def edit(stored: Object, old: Object) -> Object:
            copy: Object = decode(self._endpoint.store.plain(crd))
            track_status(self._endpoint, old, copy, self._cluster.clock)
            return copy

        options = UpdateOptions(part=Part.STATUS, faults=lambda new, old: [])
        ctx = msgspec.structs.replace(_CONTEXT, name=crd["metadata"]["name"])
        await update(self._endpoint.store, ctx, edit, self._cluster.clock, options)


def _age(crd: Object) -> tuple[str, str]:
    return crd["metadata"].get("creationTimestamp", ""), crd["metadata"]["name"]
