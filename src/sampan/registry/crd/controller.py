"""The CRD controller: accepts names, serves what is established, cleans up what is deleted.

Concurrency: one task reads the watch of all CRDs and handles them one by one, so names are given first come, first
served; the deletion of a CRD's objects runs in a task of its own, owned by `run`. What failed is tried again after
`RETRY_S`, from the CRD as it is then. Large CRDs are decoded and compared in threads.
Source: apiextensions pkg/controller/{status,establish,finalizer,apiapproval,nonstructuralschema} (1.36).
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.offload import begin_work, is_large, note_size, offloaded
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.crd.cleanup import CleanUp
from sampan.registry.crd.conditions import is_true, set_condition
from sampan.registry.crd.conformance import note_approval, note_structure
from sampan.registry.crd.hub.controller import HubConversionController
from sampan.registry.crd.hub.resource import GROUP as HUB_GROUP
from sampan.registry.crd.hub.resource import RESOURCE as HUB_RESOURCE
from sampan.registry.crd.names import Claims, Naming, resolve
from sampan.registry.crd.provider import CLEANUP_FINALIZER, definition_of, weigh
from sampan.registry.crd.tracking import track_status
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
"""How long the answer to a write of a CRD may wait until the write is in effect."""
RETRY_S = 1.0
"""When a CRD is looked at again that could not be handled, by the store's fault or another."""


class _Change(NamedTuple):
    """Change of a CRD: its kind (`DELETED` for an end), the CRD and the size of its stored form."""

    kind: str
    crd: Object
    size_bytes: int


class CrdController:
    """One per cluster. `synced` is set when all CRDs that were there at the start are served.

    `read_only`: it serves, and leaves to others what is to be written.
    """

    def __init__(self, cluster: Cluster, *, read_only: bool = False) -> None:
        self._cluster = cluster
        self._read_only = read_only
        self._work = cluster.measures.work("crd_controller")
        self._claims = Claims()
        self._served: dict[str, tuple[list[object], ResourceDefinition]] = {}
        self._cleaning: set[str] = set()
        self._failed: set[str] = set()
        self._handled = 0
        self._moved = Signal()
        self._turn = asyncio.Lock()
        self._hubs = HubConversionController(cluster, self._consider, read_only=read_only)
        self.synced = asyncio.Event()

    @property
    def _endpoint(self) -> Endpoint:
        endpoint = self._cluster.endpoint(_GROUP, "v1", _RESOURCE)
        assert endpoint is not None
        return endpoint

    async def run(self) -> None:
        """Follow the CRDs until cancelled."""
        definition = self._endpoint.definition
        definition.settled = self.settled
        await self._hubs.begin()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._hubs.run(), name="hub conversion controller")
                while True:
                    try:
                        await self._follow(group)
                    except (CacheReset, WatcherTooSlow):
                        _log.info("the watch of CRDs was reset; listing anew")
        finally:
            definition.settled = None

    async def settled(self) -> None:
        """Wait until all that has been written to CRDs is in effect, for a few seconds at most."""
        cache = self._endpoint.store.cache
        await cache.fresh()
        target = cache.changed
        deadline = asyncio.get_running_loop().time() + SETTLE_TIMEOUT_S
        while self._handled < target:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or not await self._moved.wait(left):
                return

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        cache = self._endpoint.store.cache
        await cache.wait_ready()
        async with cache.watch(cache.prefix, initial=True, prompt=True) as watcher:
            batch = await watcher.next(0)
            async with self._turn:
                await self._begin(await self._latest(batch.events), group)
            self._note(batch.revision)
            self.synced.set()
            while True:
                batch = await watcher.next(RETRY_S if self._failed else None)
                async with self._turn:
                    await self._take(batch.events, group)
                    if not batch.events:
                        await self._try_again(group)
                self._note(batch.revision)

    async def _take(self, events: Iterable[Delivery], group: asyncio.TaskGroup) -> None:
        changes = await self._latest(events)
        for change in changes:
            self._work.add(change.crd["metadata"]["name"])
        for change in changes:
            if change.kind == "DELETED":
                with self._work.at(change.crd["metadata"]["name"]):
                    await self._gone(change.crd, group)
            else:
                await self._handle(change.crd, change.size_bytes, group)

    async def _latest(self, events: Iterable[Delivery]) -> list[_Change]:
        """Decode what is to be handled of a batch: of several states of one CRD only the last, but every end."""
        latest = list(events)
        last = {event.record.key: index for index, (_, event) in enumerate(latest)}
        wanted = [
            (kind, event.record.value)
            for index, (kind, event) in enumerate(latest)
            if kind == "DELETED" or last[event.record.key] == index
        ]
        self._begin_work(sum(len(value) for _, value in wanted))
        return await offloaded(lambda: [_Change(kind, decode(value), len(value)) for kind, value in wanted])

    def _begin_work(self, size_bytes: int) -> None:
        begin_work(self._cluster.offload)
        note_size(size_bytes)

    async def _try_again(self, group: asyncio.TaskGroup) -> None:
        names, self._failed = self._failed, set()
        self._work.retries += len(names)
        await self._handle_present(sorted(names), group)

    async def _handle_present(self, names: Iterable[str], group: asyncio.TaskGroup) -> None:
        """Handle those of the CRDs that are there, as they are now."""
        cache = self._endpoint.store.cache
        for name in names:
            record = cache.get(cache.prefix + name)
            if record is not None:
                self._begin_work(len(record.value))
                await self._handle(await offloaded(decode, record.value), len(record.value), group)

    async def _consider(self, name: str) -> None:
        """How a CRD converts has changed: serve it anew, if it is served."""
        async with self._turn:
            record = self._endpoint.store.cache.get(self._endpoint.store.cache.prefix + name)
            if record is not None and name in self._served:
                self._begin_work(len(record.value))
                await self._serve(await offloaded(decode, record.value))

    def _note(self, revision: int) -> None:
        self._handled = max(self._handled, revision)
        self._moved.notify()

    async def _begin(self, changes: list[_Change], group: asyncio.TaskGroup) -> None:
        """Take over a whole list. Names that were accepted before are kept before any new one is given."""
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
                _log.warning("CRD %s: %s", name, error.message)
                self._failed.add(name)
        except STORE_ERRORS as error:
            _log.warning("CRD %s cannot be handled yet: %s", name, error)
            self._failed.add(name)
        except Exception:
            _log.exception("CRD %s cannot be served", name)

    async def _establish(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """Accept the names; serve; say so in the status (in this order: who reads Established finds it served)."""
        now = format_time(self._cluster.clock.now())
        naming = resolve(crd, self._claims.taken(crd))
        accepted = naming.names_accepted["status"] == "True"
        released = self._claims.hold(crd, naming.accepted, satisfied=accepted)
        wanted: Object = await offloaded(self._with_status, crd, naming, now)
        if is_true(wanted, "Established"):
            await self._serve(wanted)
        if wanted["status"] != crd.get("status") and not self._read_only:
            await self._write_status(wanted)
        if released:
            await self._reconsider(crd, group)

    def _with_status(self, crd: Object, naming: Naming, now: str) -> Object:
        wanted: Object = decode(self._endpoint.store.plain(crd))
        wanted.setdefault("status", {})["acceptedNames"] = naming.accepted
        set_condition(wanted, naming.names_accepted, now)
        set_condition(wanted, naming.established, now)
        note_approval(wanted, now)
        note_structure(wanted, now)
        return wanted

    async def _reconsider(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """The names that a CRD holds have changed: others of its group may get theirs now."""
        await self._handle_present(self._claims.losers(crd), group)

    async def _serve(self, crd: Object) -> None:
        name, spec = crd["metadata"]["name"], crd["spec"]
        shape = [crd["metadata"]["uid"], spec, crd["status"]["acceptedNames"], self._hubs.spec_of(name)]
        terminating = bool(crd["metadata"].get("deletionTimestamp"))
        served = self._served.get(name)
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
        )
        if is_large():
            await offloaded(weigh, definition)
        definition.hub = await self._hubs.conversion_of(name, definition)
        definition.terminating = terminating
        if definition.webhook is not None:
            definition.webhook.converted = partial(self._cluster.measures.converted, name)
        await self._cluster.serve(definition)
        self._served[name] = (shape, definition)

    async def _changed_at(self, crd: Object) -> int:
        """Objects that were written up to this revision may have been written under another spec."""
        metadata = crd["metadata"]
        if metadata.get("generation", 1) <= 1:
            return 0
        return await self._cluster.store.revision() if self.synced.is_set() else int(metadata["resourceVersion"])

    async def _stop(self, name: str) -> None:
        served = self._served.pop(name, None)
        if served is not None:
            definition = served[1]
            await self._cluster.stop_serving(definition.group, definition.resource, definition.storage_prefix)

    async def _gone(self, crd: Object, group: asyncio.TaskGroup) -> None:
        """A CRD has left and freed its names."""
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

    async def _write_status(self, crd: Object) -> None:
        def edit(stored: Object, old: Object) -> Object:
            copy: Object = decode(self._endpoint.store.plain(crd))
            track_status(self._endpoint, old, copy, self._cluster.clock)
            return copy

        options = UpdateOptions(part=Part.STATUS, faults=lambda new, old: [])
        ctx = replace(_CONTEXT, name=crd["metadata"]["name"])
        await update(self._endpoint.store, ctx, edit, self._cluster.clock, options)


def _age(crd: Object) -> tuple[str, str]:
    return crd["metadata"].get("creationTimestamp", ""), crd["metadata"]["name"]
