"""`Cluster`: all that belongs to one cluster hangs from here: store, caches, registry, allocators, schemas.

Concurrency: `run` owns one task for each watch cache; caches of custom resources come and go with their CRDs. Nothing
is kept outside the object, so a process may hold many clusters.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack

from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.offload import Offload
from sampan.core.time import Clock, SystemClock
from sampan.registry.allocation.allocators import Allocators
from sampan.registry.allocation.claims import StoredClaims
from sampan.registry.allocation.networks import stored_networks
from sampan.registry.allocation.ports import stored_range
from sampan.registry.catalogue import builtin_definitions
from sampan.registry.crd.reading import converter
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.endpoint import Endpoint
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.registry.measures import Measures
from sampan.registry.reader import CacheReader
from sampan.registry.registry import ResourceRegistry
from sampan.registry.rest.store import Convert, IsStale, ResourceStore
from sampan.registry.strategy import Strategy
from sampan.registry.webhook.client import Connect, WebhookClients
from sampan.registry.webhook.services import ServiceResolver
from sampan.schema.builtin import Definitions
from sampan.schema.compile import SchemaCompiler
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import extractor, respliced_record
from sampan.storage.store import Store, Untransformable

Measure = Callable[[Store, GroupResource], Store]
"""Gives the store as one resource is to use it."""
Attempt = Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Does a step, which has a name for the log."""
_log = logging.getLogger(__name__)


async def _once(name: str, step: Callable[[], Awaitable[None]]) -> None:
    await step()


class Cluster:
    """One cluster. `start` makes it ready to serve; `run` keeps it so."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        allocators: Allocators | None = None,
        schemas: Definitions | None = None,
    ) -> None:
        """`schemas` may be shared by clusters; they are read anew if there are none."""
        self.store = store
        self.measure: Measure = _unmeasured
        """How the stores of resources are measured. Set before the first request."""
        self.is_stale: IsStale | None = None
        """Says which stored values are to be written anew. Set before the first request; None: none."""
        self.clock: Clock = clock or SystemClock()
        self.registry = ResourceRegistry()
        self.schemas = schemas or Definitions()
        self.compiler = SchemaCompiler(self.schemas)
        self.caches: dict[str, WatchCache] = {}
        self.allocators = allocators or Allocators()
        self.claims: StoredClaims | None = None
        """What Services hold; there once the caches are."""
        self.reader = CacheReader(self.registry, self.caches)
        self.measures = Measures()
        self.offload = Offload()
        """Threads for the computations of large requests and objects."""
        self.webhooks = WebhookClients(ServiceResolver(self.reader), self.measures.requests)
        self.connect: Connect = self.webhooks.connect
        """How webhooks are reached. Set before the first request."""
        self._endpoints: dict[tuple[str, str, str, str], Endpoint] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self.registry.subscribe(self._endpoints.clear)
        self._add_builtins()

    def _add_builtins(self) -> None:
        definitions = builtin_definitions(self.schemas, BUILTIN_KINDS)
        self.registry.add(*definitions)
        for definition in definitions:
            self.add_cache(definition)

    def add_cache(self, definition: ResourceDefinition) -> WatchCache | None:
        """The cache of a resource's objects, made and started if it is not there. None: the resource stores nothing."""
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

    async def serve(self, definition: ResourceDefinition) -> None:
        """Serve a resource, or serve it by another definition: its endpoints appear when its cache is ready.

        A definition with a new way to make records gets a new cache: watches on the old one end, their clients resume.
        """
        prefix = definition.storage_prefix
        present = self.registry.get(definition.group, definition.resource)
        if present is None or present.extract is not definition.extract or prefix not in self.caches:
            assert self._group is not None
            cache, before = self._make_cache(definition), self._tasks.get(prefix)
            task = self._group.create_task(cache.run(), name=f"watch cache {prefix}")
            await cache.wait_ready()
            self.caches[prefix], self._tasks[prefix] = cache, task
            self.registry.add(definition)
            if before is not None:
                before.cancel()
            return
        self.registry.add(definition)

    async def stop_serving(self, group: str, resource: str, prefix: str) -> None:
        """Serve a resource no longer; its watches end."""
        self.registry.remove(group, resource)
        self.caches.pop(prefix, None)
        task = self._tasks.pop(prefix, None)
        if task is not None:
            task.cancel()

    def reread(self, prefixes: Collection[str] = ()) -> None:
        """List anew the caches that hold what could not be decrypted, for it may be readable now, and those named."""
        for prefix, cache in self.caches.items():
            task = self._tasks.get(prefix)
            if (cache.unreadable or prefix in prefixes) and task is not None:
                task.cancel()
                cache.list_anew()
                self._start_cache(prefix, cache)

    def _start_cache(self, prefix: str, cache: WatchCache) -> None:
        assert self._group is not None
        self._tasks[prefix] = self._group.create_task(cache.run(), name=f"watch cache {prefix}")

    async def run(self, started: Callable[[], None] | None = None, attempt: Attempt = _once) -> None:
        """Serve until cancelled. `started` is called when all caches are ready; `attempt` does the first steps, perhaps
        with patience.
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
                self._prepare_allocators()
                if started is not None:
                    started()
                await asyncio.get_running_loop().create_future()

    def endpoint(self, group: str, version: str, resource: str, subresource: str = "") -> Endpoint | None:
        """What serves a resource (or a subresource that has rules of its own) in a version; made on first use."""
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

    def _prepare_allocators(self) -> None:
        """All addresses but those that Services hold."""
        self.allocators.rebuild(self.reader.list("", "services"))
        self.allocators.claims = self.claims = self._claims()

    async def _adopt_networks(self) -> None:
        """Give addresses of the networks, and ports of the range, that the cluster has, whoever gave them to it. Old
        Services are read after this: those without an address are of the first network's family.
        """
        ports = await stored_range(self.store)
        if ports is not None:
            self.allocators.adopt_ports(*ports)
        try:
            networks = await stored_networks(self.store)
        except Untransformable as error:
            _log.error("no Service gets a cluster IP, for the networks of the cluster are not known: %s", error)
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
        """An endpoint for any version, served or not; `part` is the strategy of a subresource."""
        cache = self.caches.get(definition.storage_prefix)
        if cache is None:
            cache = WatchCache(self.store, definition.storage_prefix, extractor(None), respliced_record)
        conversion = version.conversion
        if definition.dialect.has_internal_version:
            from_stored: Convert = conversion.from_hub if conversion is not None else _unchanged
            store = ResourceStore(
                definition,
                part or version.strategy or definition.strategy,
                self.measure(self.store, definition.group_resource),
                cache,
                self.reader,
                allocators=self.allocators,
                others=self._store_of,
            )
            store.is_stale = self.is_stale
            return Endpoint(definition, version, store, from_stored, self.compiler)
        storage = definition.versions[definition.storage_version]
        from_stored = converter(definition, storage, version)
        store = ResourceStore(
            definition,
            version.strategy or definition.strategy,
            self.measure(self.store, definition.group_resource),
            cache,
            self.reader,
            api_version=version.api_version_of(definition.group),
            from_stored=from_stored,
            to_stored=converter(definition, version, storage),
        )
        store.is_stale = self.is_stale
        return Endpoint(definition, version, store, from_stored, self.compiler)


def _selectable(definition: ResourceDefinition) -> Callable[[Object], dict[str, str]] | None:
    if type(definition.strategy).selectable_fields is Strategy.selectable_fields:
        return None
    return definition.strategy.selectable_fields


def _unmeasured(store: Store, resource: GroupResource) -> Store:
    return store


def _unchanged(obj: Object) -> Object:
    return obj
