"""`ApiServer`: the handler of one cluster, with filters, discovery, health and metrics. It knows no sockets."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sampan.core.gvk import GroupResource
from sampan.registry.cluster import Cluster
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.public_paths import PublicPathsAuthorizer
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.chain import ChainParts, build_chain
from sampan.server.discovery.handler import Discovery
from sampan.server.filters.deadline import REQUEST_TIMEOUT_S, Deadlines
from sampan.server.health import ENDPOINTS, Health
from sampan.server.index import index_handler
from sampan.server.lifecycle import Lifecycle
from sampan.server.metrics import CONTENT_TYPE, ServerMetrics
from sampan.server.openapi.handler import OpenApi
from sampan.server.profiling.handler import Profiling
from sampan.server.request import Request, Response
from sampan.server.resources import resource_handler
from sampan.server.routes import Routes
from sampan.server.status import json_response
from sampan.server.version import version_info
from sampan.server.zpages import flagz, statusz


@dataclass(frozen=True, slots=True)
class ApiServerSettings:
    """How a server answers."""

    cors_allowed_origins: Sequence[str] = ()
    """Regular expressions; empty: no CORS."""
    request_timeout_s: float = REQUEST_TIMEOUT_S
    """The longest that a request which is no stream may take, in seconds."""
    flags: tuple[tuple[str, str], ...] = ()
    """What /flagz shows."""
    profiling: bool = True
    """Whether /debug/pprof answers."""


class ApiServer:
    """`handler` answers every request.

    Assumptions: somebody runs `cluster.run()` and `deadlines.run()` meanwhile.
    """

    def __init__(
        self,
        cluster: Cluster,
        authenticators: Sequence[Authenticator],
        authorizers: Sequence[Authorizer] = (),
        *,
        settings: ApiServerSettings | None = None,
        server_address: Callable[[], str] = str,
    ) -> None:
        settings = settings or ApiServerSettings()
        self.cluster = cluster
        self.lifecycle = Lifecycle()
        self.metrics = ServerMetrics()
        cluster.measure = self.metrics.measured_store
        self.health = Health(self.lifecycle, self._check_store)
        self.deadlines = Deadlines(settings.request_timeout_s)
        self.metrics.in_flight = self.deadlines.under_way
        self.discovery = Discovery(cluster.registry, server_address)
        self.routes = Routes(resource_handler(cluster, self.metrics.watch_events))
        self._add_routes(settings)
        self.handler = build_chain(
            self.routes.handle,
            ChainParts(
                UnionAuthenticator(authenticators),
                UnionAuthorizer([MastersAuthorizer(), PublicPathsAuthorizer(), *authorizers]),
                self.lifecycle,
                self.metrics,
                self.deadlines,
                time.monotonic,
                settings.cors_allowed_origins,
            ),
        )

    def _add_routes(self, settings: ApiServerSettings) -> None:
        routes = self.routes
        for path in ("/api", "/apis"):
            routes.add(path, self.discovery.handle, listed=False)
            routes.add_prefix(f"{path}/", self.discovery.handle)
        for endpoint in ENDPOINTS:
            routes.add(f"/{endpoint}", self.health.handle, listed=False)
            routes.add_prefix(f"/{endpoint}/", self.health.handle)
        openapi = OpenApi(self.cluster.registry, self.cluster.schemas)
        routes.add("/openapi/v2", openapi.v2)
        routes.add("/openapi/v3", openapi.v3)
        routes.add_prefix("/openapi/v3/", openapi.v3)
        version = version_info()

        async def show_version(request: Request) -> Response:
            return json_response(version)

        routes.add("/version", show_version)
        routes.add("/metrics", self._metrics)
        routes.add("/metrics/slis", self._slis)
        routes.add("/statusz", statusz("apiserver", routes.paths))
        routes.add("/flagz", flagz("apiserver", settings.flags))
        if settings.profiling:
            Profiling().install(routes)
        index = index_handler(self._paths)
        routes.add("/", index, listed=False)
        routes.add("/index.html", index, listed=False)

    def _paths(self) -> list[str]:
        return [*self.discovery.paths(), *self.health.paths(), *self.routes.paths()]

    async def _check_store(self) -> None:
        await self.cluster.store.revision()

    async def _metrics(self, request: Request) -> Response:
        size_bytes, counts = await self.cluster.store.size_bytes(), self._count_objects()
        self.metrics.storage_size_bytes = lambda: size_bytes
        self.metrics.storage_objects = lambda: counts
        return Response(200, await self.metrics.exposition(), CONTENT_TYPE)

    def _count_objects(self) -> dict[GroupResource, int]:
        caches = self.cluster.caches
        for cache in caches.values():
            cache.poll()
        return {
            definition.group_resource: len(caches[definition.storage_prefix])
            for definition in self.cluster.registry.definitions()
            if definition.storage_prefix in caches
        }

    async def _slis(self, request: Request) -> Response:
        return Response(200, self.health.slis_text(), CONTENT_TYPE)
