"""`Aggregator`: connects all parts of aggregation in a server.

Concurrency: `run` owns the task of the registration, one task for each watch (APIServices, Services, EndpointSlices),
and one `ApiServiceController` for each APIService with a service. A backend that does not respond delays only its own
controller. `start` must have ended before the server reports that it is ready.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.webhook.services import ServiceResolver
from sampan.server.aggregation.api_service import GROUP, RESOURCE, ApiService, api_service_of
from sampan.server.aggregation.api_service_controller import ApiServiceController
from sampan.server.aggregation.api_services import ApiServices
from sampan.server.aggregation.availability import LOCAL, AvailabilityResult, check
from sampan.server.aggregation.backend import Backends
from sampan.server.aggregation.backend_client import BackendClient
from sampan.server.aggregation.filter import with_aggregation
from sampan.server.aggregation.metrics import AggregationMetrics
from sampan.server.aggregation.registration import AutoRegistration
from sampan.server.aggregation.remote_discovery import RemoteDiscovery
from sampan.server.aggregation.remote_openapi import RemoteOpenApi
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.aggregation.status import write_result
from sampan.server.discovery.resources import Aggregated
from sampan.server.openapi.merge import Json
from sampan.server.proxy.forward import Proxy
from sampan.server.request import Filter
from sampan.storage.encoding import decode
from sampan.storage.records import CacheReset, Delivery, WatcherTooSlow
from sampan.storage.store import STORE_ERRORS

_log = logging.getLogger("sampan.aggregation")
_SERVICE_NAME = "kubernetes.io/service-name"


class Aggregator:
    """Aggregation layer of one server: APIServices, and the backends that serve them."""

    def __init__(self, cluster: Cluster, proxy: Proxy, settings: AggregationSettings | None = None) -> None:
        settings = settings or AggregationSettings()
        self.api_services = ApiServices(cluster.reader)
        self.metrics = AggregationMetrics(self.api_services)
        self.discovery = RemoteDiscovery()
        self.openapi = RemoteOpenApi()
        self._cluster = cluster
        self._intervals = settings.intervals
        self._work = cluster.measures.work("RemoteAvailabilityController")
        backends = Backends(ServiceResolver(cluster.reader), settings, cluster.tunnels)
        self._client = BackendClient(backends, proxy)
        self._registration = AutoRegistration(cluster)
        self._controllers: dict[str, tuple[ApiServiceController, asyncio.Task[None]]] = {}
        self.filter: Filter = with_aggregation(
            self.api_services, backends, proxy, reject_redirects=settings.reject_redirects
        )

    # --- for discovery and OpenAPI

    @property
    def generation(self) -> int:
        """Return a number that grows with each change for discovery and OpenAPI."""
        return self.api_services.generation + self.discovery.generation + self.openapi.generation

    def openapi_urls(self) -> dict[str, str]:
        """Return the URLs of the v3 documents of backends by path; empty for a backend without one."""
        return {each.path: self.openapi.url(each.path) for each in self.api_services.remote().values()}

    def openapi_parts(self) -> dict[str, list[Json]]:
        """Return the v2 documents of backends by path."""
        return {each.path: self.openapi.part(each.path) for each in self.api_services.remote().values()}

    def aggregated(self) -> Aggregated:
        """Return priorities and backend documents for discovery."""
        present = self.api_services.present()
        return Aggregated(
            {place: (each.group_priority, each.version_priority) for place, each in present.items()},
            {place: self.discovery.document(*place) for place in self.api_services.remote()},
        )

    # --- the loops

    async def start(self) -> None:
        """Register the group versions of this server. The cluster must run, with loaded caches. **Raises**
        `StatusError`.
        """
        await self._registration.start()

    async def run(self) -> None:
        """Keep APIServices and the documents of backends current, until cancelled. Can be called again after a
        cancellation.
        """
        self._controllers.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._registration.run(), name="APIService registration")
            group.create_task(self._follow(GROUP, RESOURCE, partial(self._changed, group)))
            group.create_task(self._follow("", "services", self._service_changed))
            group.create_task(self._follow("discovery.k8s.io", "endpointslices", self._endpoints_changed))

    async def _follow(self, group: str, resource: str, handle: Callable[[Iterable[Delivery]], None]) -> None:
        """Pass the existing objects of a resource, then their changes, to `handle`."""
        definition = self._cluster.registry.get(group, resource)
        assert definition is not None
        cache = self._cluster.caches[definition.storage_prefix]
        while True:
            try:
                async with cache.watch(cache.prefix, initial=True) as watcher:
                    while True:
                        handle((await watcher.next(None)).events)
            except (CacheReset, WatcherTooSlow):
                _log.info("watch of %s ended; listing again", resource)

    def _changed(self, group: asyncio.TaskGroup, events: Iterable[Delivery]) -> None:
        self.api_services.catch_up()
        for kind, event in events:
            obj: Object = decode(event.record.value)
            self._one_changed(group, api_service_of(obj), gone=kind == "DELETED")
        self._registration.notify()

    def _one_changed(self, group: asyncio.TaskGroup, found: ApiService, *, gone: bool) -> None:
        kept = self._controllers.get(found.name)
        if kept is not None and not gone and _same(kept[0].api_service, found):
            return
        if kept is not None:
            del self._controllers[found.name]
            kept[1].cancel()
            self._work.drop(found.name)
            self.discovery.forget(kept[0].api_service)
            self.openapi.forget(kept[0].api_service)
        if gone or found.group == GROUP:
            return
        if found.service is None:
            if not found.available:
                group.create_task(self._write_local(found))
            return
        controller = ApiServiceController(found, self._check, self._refresh, self._intervals, self._work)
        self._controllers[found.name] = (
            controller,
            group.create_task(controller.run(), name=f"APIService {found.name}"),
        )

    async def _write_local(self, api_service: ApiService) -> None:
        try:
            await write_result(self._cluster, api_service, LOCAL)
        except (StatusError, *STORE_ERRORS) as error:
            _log.warning("cannot write the status of APIService %s: %s", api_service.name, error)

    async def _check(self, api_service: ApiService) -> AvailabilityResult:
        result = await check(api_service, self._cluster.reader, self._client)
        present = self.api_services.present().get((api_service.group, api_service.version))
        was_available = present is not None and present.available
        self.metrics.judged(api_service.name, result, was_available=was_available)
        await write_result(self._cluster, api_service, result)
        return result

    async def _refresh(self, api_service: ApiService) -> None:
        await self.discovery.refresh(api_service, self._client)
        await self.openapi.refresh(api_service, self._client)

    def _service_changed(self, events: Iterable[Delivery]) -> None:
        if self._controllers:
            objects = (decode(event.record.value)["metadata"] for _, event in events)
            self._check_now({(metadata["namespace"], metadata["name"]) for metadata in objects})

    def _endpoints_changed(self, events: Iterable[Delivery]) -> None:
        if self._controllers:
            objects = (decode(event.record.value)["metadata"] for _, event in events)
            self._check_now(
                {(each["namespace"], (each.get("labels") or {}).get(_SERVICE_NAME, "")) for each in objects}
            )

    def _check_now(self, services: set[tuple[str, str]]) -> None:
        for controller, _ in self._controllers.values():
            service = controller.api_service.service
            if service is not None and (service.namespace, service.name) in services:
                controller.check_now()


def _same(one: ApiService, other: ApiService) -> bool:
    """Return True if both APIServices have the same backend and the same TLS settings."""
    return (one.service, one.ca_pem, one.insecure) == (other.service, other.ca_pem, other.insecure)
