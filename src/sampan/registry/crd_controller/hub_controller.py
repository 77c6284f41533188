"""`HubConversionController`: serves each CRD with its conversion, and reports in `Ready` if the conversion is usable.

Concurrency: `run` owns two tasks. One follows HubConversions, the other CRDs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.crd.conditions import make_condition, set_condition
from sampan.registry.crd.hub_resource import GROUP, RESOURCE, VERSION, HubConversionStrategy, hub_conversions
from sampan.registry.crd.tracking import track_status
from sampan.registry.definition import ObjectConversion, ResourceDefinition
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.records import CacheReset, WatcherTooSlow
from sampan.storage.signal import Signal
from sampan.storage.store import STORE_ERRORS, prefix_end

_log = logging.getLogger(__name__)
_CONTEXT = Context(user="system:apiserver", groups=("system:masters",))
_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_SETTLE_TIMEOUT_S = 5.0
RETRY_S = 1.0
"""Delay in seconds before the retry for an object that could not be handled."""

Refresh = Callable[[str], Awaitable[None]]
"""Serves the CRD of a name again."""


class HubConversionController:
    """Controller of the HubConversions of one cluster. Call `begin` first."""

    def __init__(self, cluster: Cluster, refresh: Refresh, *, read_only: bool = False) -> None:
        self._read_only = read_only
        self._cluster = cluster
        self._refresh = refresh
        self._strategy: HubConversionStrategy | None = None
        self._handled = 0
        self._progress = Signal()

    async def are_stored(self) -> bool:
        """Return True if the store has HubConversions. Then they must be in effect, or conversions would lose data."""
        prefix = f"/registry/{GROUP}/{RESOURCE}/"
        found = bool((await self._cluster.store.range(prefix, prefix_end(prefix), limit=1)).items)
        if found:
            _log.warning("%s is served, without --extra-apis too: the store has HubConversions", GROUP)
        return found

    async def begin(self) -> None:
        """Serve HubConversions."""
        cluster = self._cluster
        object_meta = cluster.schemas.schema(_OBJECT_META)
        definition, self._strategy = hub_conversions(
            cluster.reader, cluster.compiler, object_meta, cluster.connect, cluster.offload
        )
        await cluster.serve(definition)

    def spec_of(self, name: str) -> object:
        """Return the spec of a CRD's HubConversion; None if there is none."""
        found = self._cluster.reader.get(GROUP, RESOURCE, "", name)
        return None if found is None else found.get("spec")

    async def conversion_of(self, name: str, definition: ResourceDefinition) -> ObjectConversion | None:
        """Return the conversion of a CRD, or None if it has no HubConversion or converts by webhook."""
        found = self._cluster.reader.get(GROUP, RESOURCE, "", name)
        if found is None or self._strategy is None or definition.webhook is not None:
            return None
        return await self._strategy.conversion(found, definition)

    async def settled(self) -> None:
        """Wait until all writes up to now are in effect, but at most `_SETTLE_TIMEOUT_S`."""
        cache = self._endpoint.store.cache
        await cache.fresh()
        target = cache.changed
        deadline = asyncio.get_running_loop().time() + _SETTLE_TIMEOUT_S
        while self._handled < target:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or not await self._progress.wait(left):
                return

    async def run(self) -> None:
        """Follow HubConversions and CRDs until cancelled."""
        crds = self._cluster.endpoint("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert crds is not None
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(self._endpoint.store.cache, self._changed), name="hub conversions")
            group.create_task(self._follow(crds.store.cache, self._report), name="CRDs of hub conversions")

    @property
    def _endpoint(self) -> Endpoint:
        endpoint = self._cluster.endpoint(GROUP, VERSION, RESOURCE)
        assert endpoint is not None
        return endpoint

    async def _changed(self, name: str) -> None:
        await self._refresh(name)
        await self._report(name)

    async def _follow(self, cache: WatchCache, act: Refresh) -> None:
        while True:
            try:
                async with cache.watch(cache.prefix, initial=True, prompt=True) as watcher:
                    failed: set[str] = set()
                    wait_s: float | None = 0.0  # without objects, there is no first event to wait for
                    while True:
                        batch = await watcher.next(wait_s)
                        names = {event.record.key.removeprefix(cache.prefix) for _, event in batch.events} or failed
                        failed = (failed - names) | {name for name in names if not await self._try(act, name)}
                        if cache is self._endpoint.store.cache:
                            self._handled = max(self._handled, batch.revision)
                            self._progress.notify()
                        wait_s = RETRY_S if failed else None
            except (CacheReset, WatcherTooSlow):
                _log.info("watch of hub conversions was reset; listing again")

    async def _try(self, act: Refresh, name: str) -> bool:
        """Call `act`. Return False if it must be retried."""
        try:
            await act(name)
        except StatusError as error:
            if error.reason in (Reason.NOT_FOUND, Reason.CONFLICT):
                return True
            _log.warning("cannot handle HubConversion %s: %s; retrying", name, error.message)
            return False
        except STORE_ERRORS as error:
            _log.warning("cannot handle HubConversion %s: %s; retrying", name, error)
            return False
        except Exception:
            _log.exception("cannot handle HubConversion %s", name)
        return True

    async def _report(self, name: str) -> None:
        """Check the conversion and write its `Ready` condition if that has changed."""
        obj = self._cluster.reader.get(GROUP, RESOURCE, "", name)
        if obj is None or self._strategy is None or self._read_only:
            return
        faults = await self._strategy.check_rules(obj)
        if faults:
            desired = make_condition("Ready", False, "Refused", "; ".join(str(fault) for fault in faults))
        else:
            desired = make_condition("Ready", True, "Lossless", "all versions convert through the hub without loss")
        copy: Object = decode(self._endpoint.store.plain(obj))
        if set_condition(copy, desired, format_time(self._cluster.clock.now())):
            await self._write_status(copy)

    async def _write_status(self, obj: Object) -> None:
        def edit(stored: Object, old: Object) -> Object:
            copy: Object = decode(self._endpoint.store.plain(obj))
            track_status(self._endpoint, old, copy, self._cluster.clock)
            return copy

        options = UpdateOptions(part=Part.STATUS, faults=lambda new, old: [])
        ctx = msgspec.structs.replace(_CONTEXT, name=obj["metadata"]["name"])
        await update(self._endpoint.store, ctx, edit, self._cluster.clock, options)
