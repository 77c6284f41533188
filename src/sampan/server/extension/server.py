"""`ExtensionServer`: the handler of one group version, with filters, discovery, OpenAPI, health and metrics.

It has no store and no sockets; `sampan.app.extension` runs it behind an API server.
"""

from collections.abc import Sequence

from sampan.core.clock import monotonic
from sampan.registry.registry import ResourceRegistry
from sampan.schema.builtin import Definitions
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.chain import ChainParts, build_chain
from sampan.server.discovery.handler import Discovery
from sampan.server.extension.computed import ComputedResource
from sampan.server.extension.verbs import computed_handler
from sampan.server.filters.deadline import REQUEST_TIMEOUT_S, Deadlines
from sampan.server.health.health import ENDPOINTS, Health
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.metrics.server import CONTENT_TYPE, ServerMetrics
from sampan.server.openapi.handler import OpenApi
from sampan.server.request import Request, Response
from sampan.server.routes.index import index_handler
from sampan.server.routes.routes import Routes
from sampan.server.routes.version import show_version


class ExtensionServer:
    """Serves one group version; `handler` serves every request.

    Assumptions: the caller runs `deadlines.run()`.
    """

    def __init__(
        self,
        group_version: tuple[str, str],
        resources: Sequence[ComputedResource],
        authenticator: Authenticator,
        authorizer: Authorizer,
    ) -> None:
        group, version = group_version
        self.lifecycle = LifecycleSignals()
        self.deadlines = Deadlines(REQUEST_TIMEOUT_S)
        self.metrics = ServerMetrics(self.deadlines.under_way)
        self._registry = ResourceRegistry()
        self._registry.add(*(each.definition(group, version) for each in resources))
        self._health = Health(self.lifecycle, _nothing_stored)
        self._discovery = Discovery(self._registry)
        self._routes = Routes(computed_handler(group, version, resources))
        self._add_routes()
        parts = ChainParts(authenticator, authorizer, self.lifecycle, self.metrics, self.deadlines, monotonic)
        self.handler = build_chain(self._routes.handle, parts)

    def _add_routes(self) -> None:
        routes, openapi = self._routes, OpenApi(self._registry, Definitions())
        routes.add("/apis", self._discovery.handle, listed=False)
        routes.add_prefix("/apis/", self._discovery.handle)
        for endpoint in ENDPOINTS:
            routes.add(f"/{endpoint}", self._health.handle, listed=False)
            routes.add_prefix(f"/{endpoint}/", self._health.handle)
        routes.add("/openapi/v2", openapi.v2)
        routes.add("/openapi/v3", openapi.v3)
        routes.add_prefix("/openapi/v3/", openapi.v3)
        routes.add_service("/version", show_version)
        routes.add("/metrics", self._show_metrics)
        routes.add("/", index_handler(self._paths), listed=False)

    def _paths(self) -> list[str]:
        return [*self._discovery.paths(), *self._health.paths(), *self._routes.paths()]

    async def _show_metrics(self, request: Request) -> Response:
        return Response(200, await self.metrics.exposition(), CONTENT_TYPE)


async def _nothing_stored() -> None:
    """Pass the health check of the store, because there is no store."""
