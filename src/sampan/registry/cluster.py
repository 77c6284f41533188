"""`Cluster`: root of everything that belongs to one cluster: store, caches, registry, allocators and schemas.

Concurrency: `run` owns one task for each watch cache, and one for each CRD that a webhook converts. CRDs add and remove
the caches of their custom resources. All state belongs to the `Cluster` object, so a process may have many clusters.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AsyncExitStack, contextmanager
from copy import copy
from typing import Final

from sampan.core.event_loop.offload import Offload
from sampan.core.object import Object
from sampan.core.time import Clock, SystemClock
from sampan.registry.allocation.allocators import Allocation, Allocators
from sampan.registry.allocation.claims import StoredClaims
from sampan.registry.allocation.networks import stored_networks
from sampan.registry.allocation.ports import stored_range
from sampan.registry.builtins import Builtins
from sampan.registry.crd.converted_ahead import ConvertedAhead, other_versions
from sampan.registry.crd.reading import converter, storing_converter
from sampan.registry.crd.webhook_conversion import CACHE_BYTES_MAX
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.endpoint import Endpoint
from sampan.registry.measures import Measures
from sampan.registry.reader import CacheReader
from sampan.registry.registry import ResourceRegistry
from sampan.registry.rest.recent_writes import no_writes
from sampan.registry.rest.store import Convert, IsStale, ResourceStore
from sampan.registry.strategy import Strategy
from sampan.registry.webhook.client import Connect, WebhookClients
from sampan.registry.webhook.services import ServiceResolver
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import extractor, respliced_record
from sampan.storage.store import Store, Untransformable
from sampan.streams.tunnels import NodeTunnels

Attempt = Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Runs a startup step, given the name of the step (for the log) and the function."""
Settled = Callable[[], Awaitable[None]]
"""Waits until all writes of a resource are in effect. For CRDs: until the declared resources are served."""
_log = logging.getLogger(__name__)


async def _once(name: str, step: Callable[[], Awaitable[None]]) -> None:
    await step()


class Cluster:
    """One cluster. `run` starts it and serves until cancelled."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        allocators: Allocators | None = None,
        builtins: Builtins | None = None,
        is_stale: IsStale | None = None,
        offload: Offload | None = None,
        connect: Connect | None = None,
    ) -> None:
        """Create a cluster.

        `is_stale`: predicate for stored values that must be written again; None: no value is written again. `offload`:
        threads for computations on large requests and objects. `connect`: factory of webhook clients; None:
        `webhooks.connect`.
        """
        builtins = builtins or Builtins()
        self.store = store
        self._is_stale = is_stale
        self.clock: Clock = clock or SystemClock()
        self.registry = ResourceRegistry()
        self.schemas = builtins.schemas
        self.compiler = builtins.compiler
        self.caches: dict[str, WatchCache] = {}
        self.allocators = allocators or Allocators()
        self.reader = CacheReader(self.registry, self.caches)
        self.measures = Measures()
        self.recent_writes: Final = no_writes()
        self.offload = offload or Offload()
        self.tunnels: Final = NodeTunnels()
        """Tunnels of nodes to this server."""
        self.webhooks = WebhookClients(ServiceResolver(self.reader), self.measures.requests, self.tunnels)
        self.connect: Final[Connect] = connect or self.webhooks.connect
        self._settled: dict[tuple[str, str], Settled] = {}
        self._endpoints: dict[tuple[str, str, str, str], Endpoint] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ahead: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self.registry.subscribe(self._endpoints.clear)
        self.registry.add(*builtins.definitions)
        for definition in builtins.definitions:
            self.add_cache(definition)
        self.extra_apis = True
        """Serve APIs that Kubernetes does not have. See `drop_extra_apis`."""
        self.claims: Final = self._claims()
        """Claims of Services to cluster IPs and node ports, in the store. Usable when the caches are ready."""
        self._allocation = Allocation(self.allocators, self.claims)

    def add_cache(self, definition: ResourceDefinition) -> WatchCache | None:
        """Return the cache of a resource, created and started if needed. Return None if the resource stores no
        objects.
        """
        if "list" not in definition.verbs and "get" not in definition.verbs:
            return None
        cache = self.caches.get(definition.storage_prefix)
        if cache is None:
            cache = self.caches[definition.storage_prefix] = self._make_cache(definition)
            if self._group is not None:
                self._start_cache(definition.storage_prefix, cache)
        return cache

    def _make_cache(self, definition: ResourceDefinition) -> WatchCache:
        extract = definition.extract or extractor(_selectable(definition), definition.strategy.selectable_part)
        return WatchCache(self.store, definition.storage_prefix, extract, respliced_record)

    def drop_extra_apis(self) -> None:
        """Serve only APIs that Kubernetes serves: no versions that it has removed, and no HubConversions.

        Call it before `run`. Stored objects do not change, because none is stored in a removed version.
        """
        self.extra_apis = False
        for definition in self.registry.definitions():
            versions = {name: version for name, version in definition.versions.items() if not version.extra}
            if len(versions) < len(definition.versions):
                own = copy(definition)
                own.versions = versions
                self.registry.add(own)

    async def serve(self, definition: ResourceDefinition) -> None:
        """Serve a resource, or replace its definition. Its endpoints appear when its cache is ready.

        A definition that builds records differently gets a new cache. Watches on the old cache end, and their clients
        resume on the new one.
        """
        prefix = definition.storage_prefix
        present = self.registry.get(definition.group, definition.resource)
        if present is None or present.extract is not definition.extract or prefix not in self.caches:
            assert self._group is not None
            cache, before = self._make_cache(definition), self._tasks.get(prefix)
            replaced = self.caches.get(prefix)
            task = self._group.create_task(cache.run(), name=f"watch cache {prefix}")
            await cache.wait_ready()
            self.caches[prefix], self._tasks[prefix] = cache, task
            self.registry.add(definition)
            if replaced is not None:
                replaced.successor = cache
            if before is not None:
                before.cancel()
        else:
            self.registry.add(definition)
        self._convert_ahead(definition)

    def _convert_ahead(self, definition: ResourceDefinition) -> None:
        """Convert the objects of a resource to its other versions when they change, if a webhook converts them."""
        prefix = definition.storage_prefix
        before = self._ahead.pop(prefix, None)
        if before is not None:
            before.cancel()
        versions = other_versions(definition)
        if definition.webhook is not None and versions:
            assert self._group is not None
            ahead = ConvertedAhead(self.caches[prefix], definition.webhook, versions, CACHE_BYTES_MAX)
            self._ahead[prefix] = self._group.create_task(ahead.run(), name=f"conversions {prefix}")

    async def stop_serving(self, group: str, resource: str, prefix: str) -> None:
        """Stop serving a resource and end its watches. Requests in progress get 404."""
        self.registry.remove(group, resource)
        cache = self.caches.pop(prefix, None)
        if cache is not None:
            cache.retired = True
        for tasks in (self._tasks, self._ahead):
            task = tasks.pop(prefix, None)
            if task is not None:
                task.cancel()

    @contextmanager
    def settling(self, group: str, resource: str, settled: Settled) -> Iterator[None]:
        """Wait with `settled` before the response to each write of a resource, until the block ends."""
        self._settled[group, resource] = settled
        try:
            yield
        finally:
            del self._settled[group, resource]

    async def settle(self, group: str, resource: str) -> None:
        """Wait until the writes of a resource are in effect."""
        settled = self._settled.get((group, resource))
        if settled is not None:
            await settled()

    def reread(self, prefixes: Collection[str] = ()) -> None:
        """List again all caches that contain undecryptable rows, and the caches with these key prefixes.

        After a reload of the encryption keys the server may be able to decrypt these rows.
        """
        for prefix, cache in self.caches.items():
            task = self._tasks.get(prefix)
            if (cache.unreadable or prefix in prefixes) and task is not None:
                task.cancel()
                cache.reset()
                self._start_cache(prefix, cache)

    def _start_cache(self, prefix: str, cache: WatchCache) -> None:
        assert self._group is not None
        self._tasks[prefix] = self._group.create_task(cache.run(), name=f"watch cache {prefix}")

    async def run(self, started: Callable[[], None] | None = None, attempt: Attempt = _once) -> None:
        """Serve until cancelled. `started` is called when all caches are ready. `attempt` runs the first steps and may
        retry.
        """
        async with AsyncExitStack() as stack:
            await attempt("the opening of the store", self.store.open)
            stack.push_async_callback(self.store.close)
            await attempt("a look at the networks of Services", self._adopt_networks)
            stack.callback(self.webhooks.close)
            async with asyncio.TaskGroup() as group:
                self._group = group
                for prefix, cache in self.caches.items():
                    self._start_cache(prefix, cache)
                for cache in list(self.caches.values()):
                    await cache.wait_ready()
                self.allocators.rebuild(self.reader.list("", "services"))
                if started is not None:
                    started()
                await asyncio.get_running_loop().create_future()

    def endpoint(self, group: str, version: str, resource: str, subresource: str = "") -> Endpoint | None:
        """Return the endpoint of a resource, or of a subresource with special rules, in a version. Create it on first
        use.
        """
        key = (group, version, resource, subresource)
        endpoint = self._endpoints.get(key)
        if endpoint is None:
            found = self.registry.lookup(group, version, resource)
            if found is None:
                return None
            declared = found[0].subresources.get(subresource)
            part = declared.strategy if declared is not None else None
            if subresource and part is None:
                return self.endpoint(group, version, resource)
            endpoint = self._endpoints[key] = self.make_endpoint(*found, part)
        return endpoint

    async def _adopt_networks(self) -> None:
        """Configure the allocators with the stored networks and port range of the cluster.

        The server reads Services only after this, because a Service without an address belongs to the family of the
        first network.
        """
        ports = await stored_range(self.store)
        if ports is not None:
            self.allocators.adopt_ports(*ports)
        try:
            networks = await stored_networks(self.store)
        except Untransformable as error:
            _log.error("cannot read the networks of the cluster: %s; Services get no cluster IP", error)
            self.allocators.close()
            return
        if networks:
            self.allocators.adopt(networks)

    def _claims(self) -> StoredClaims:
        addresses = self._store_of("networking.k8s.io", "ipaddresses")
        cidrs = self._store_of("networking.k8s.io", "servicecidrs")
        return StoredClaims(self.store, addresses, cidrs, self.allocators, self.clock)

    def _store_of(self, group: str, resource: str) -> ResourceStore:
        definition = self.registry.get(group, resource)
        assert definition is not None
        endpoint = self.endpoint(group, definition.storage_version, resource)
        assert endpoint is not None
        return endpoint.store

    def make_endpoint(
        self, definition: ResourceDefinition, version: VersionDefinition, part: Strategy | None = None
    ) -> Endpoint:
        """Create an endpoint for any version, served or not. `part` is the strategy of a subresource."""
        cache = self.caches.get(definition.storage_prefix)
        if cache is None:
            cache = WatchCache(self.store, definition.storage_prefix, extractor(None), respliced_record)
        conversion, store = version.conversion, self.measures.store.measured(self.store, definition.group_resource)
        if definition.dialect.has_internal_version:
            from_stored: Convert = conversion.from_hub if conversion is not None else _unchanged
            objects = ResourceStore(
                definition,
                part or version.strategy or definition.strategy,
                store,
                cache,
                self.reader,
                step_times=self.measures.steps,
                recent_writes=self.recent_writes,
                is_stale=self._is_stale,
                allocation=self._allocation if definition.strategy.allocates else None,
                others=self._store_of,
            )
            return Endpoint(definition, version, objects, from_stored, self.compiler)
        storage = definition.versions[definition.storage_version]
        from_stored = converter(definition, storage, version)
        objects = ResourceStore(
            definition,
            version.strategy or definition.strategy,
            store,
            cache,
            self.reader,
            step_times=self.measures.steps,
            recent_writes=self.recent_writes,
            is_stale=self._is_stale,
            api_version=version.api_version_of(definition.group),
            from_stored=from_stored,
            to_stored=storing_converter(definition, version),
        )
        return Endpoint(definition, version, objects, from_stored, self.compiler)


def _selectable(definition: ResourceDefinition) -> Callable[[Object], dict[str, str]] | None:
    if type(definition.strategy).selectable_fields is Strategy.selectable_fields:
        return None
    return definition.strategy.selectable_fields


def _unchanged(obj: Object) -> Object:
    return obj
