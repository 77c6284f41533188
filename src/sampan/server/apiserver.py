"""`ApiServer`: the request handler of one cluster, with filters, discovery, health and metrics. No network I/O."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sampan.core.clock import monotonic
from sampan.core.gvk import GroupResource
from sampan.registry.cluster import Cluster
from sampan.server.admission.chain import AdmissionChain, configuring
from sampan.server.admission.change_detector import ChangeDetector
from sampan.server.admission.order import default_plugins
from sampan.server.admission.plugins.rbac_escalation import RbacEscalation
from sampan.server.admission.policy.param_rights import ParamRights
from sampan.server.admission.settings import AdmissionSettings
from sampan.server.aggregation.aggregator import Aggregator
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.audit.audit import Audit
from sampan.server.audit.metrics import AuditMetrics
from sampan.server.authentication.anonymous import ANYWHERE, AnonymousAuthenticator
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.request_header import STANDARD_HEADERS, RequestHeaders
from sampan.server.authentication.token_service import TokenService
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.authorization.authorizer import Authorizer, DecisionCounting
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.modes import default_authorizers, rbac_of
from sampan.server.authorization.observed import AuthorizationObserver, observed
from sampan.server.chain import ChainParts, build_chain
from sampan.server.connections.unread import UnreadBytes, UnreadLimits
from sampan.server.dashboard.dashboard import Dashboard
from sampan.server.dashboard.namespaces import namespaces_review
from sampan.server.dashboard.object_search import object_search
from sampan.server.dashboard.oidc import OidcIssuer
from sampan.server.dashboard.roles import SuggestedRoles
from sampan.server.dashboard.self_reviews import ReviewAuthorizer, serving_reviews
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.discovery.handler import Discovery
from sampan.server.event_loop_watch import LoopWatch
from sampan.server.filters.deadline import Deadlines
from sampan.server.filters.tracing import Tracer
from sampan.server.flow_control.flow_control import FlowControl
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.health.health import ENDPOINTS, Health
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.instruments.removed_resources import RemovedResources
from sampan.server.metrics.cluster import ClusterMetrics
from sampan.server.metrics.security import SecurityMetrics
from sampan.server.metrics.server import CONTENT_TYPE, ServerMetrics
from sampan.server.node_tunnels import TunnelEndpoint
from sampan.server.openapi.handler import OpenApi
from sampan.server.profiling.handler import Profiling
from sampan.server.proxy.upstreams import ProxyUpstreams, UpstreamSettings
from sampan.server.request import Filter, Handler, Request, Response
from sampan.server.resource_metrics.resource_metrics import serving_metrics
from sampan.server.resource_metrics.scraper import Scraper
from sampan.server.resource_metrics.settings import ResourceMetricsSettings
from sampan.server.resources import resource_handler
from sampan.server.routes.controllers import ControllersRoute, ReportSource
from sampan.server.routes.index import index_handler
from sampan.server.routes.routes import Routes
from sampan.server.routes.version import show_version
from sampan.server.routes.zpages import flagz, statusz
from sampan.server.shared_settings import cors_allowed_origins_setting, hsts_directives_setting, profiling_setting
from sampan.server.status import text_response
from sampan.server.verbs.components import ELSEWHERE, Components
from sampan.server.verbs.scope import Shared
from sampan.storage.cache import WatchCache
from sampan.storage.store import StoreUnavailable
from sampan.streams.tunnels import PATH as TUNNELS

_STORED_ELSEWHERE = frozenset({GroupResource("events.k8s.io", "events"), GroupResource("", "componentstatuses")})
"""Resources without stored objects."""
RESET = "metrics reset\n"


@dataclass(frozen=True, slots=True)
class ApiServerSettings:
    """Options and parts that an `ApiServer` gets besides its cluster, authenticators and authorizers."""

    cors_allowed_origins: Sequence[str] = cors_allowed_origins_setting()
    hsts_directives: Sequence[str] = hsts_directives_setting()
    flags: tuple[tuple[str, str], ...] = ()
    """Flags on /flagz."""
    profiling: bool = profiling_setting()
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    identity: TokenService = field(default_factory=TokenService)
    """Issues and reviews tokens."""
    anonymous: AnonymousAuthenticator | None = ANYWHERE
    """Decides which requests need no credentials; None: all requests need credentials."""
    request_headers: RequestHeaders = STANDARD_HEADERS
    """Names of the headers in which a front proxy passes the user."""
    audit: Audit | None = None
    """Records requests. The caller runs it."""
    security_metrics: SecurityMetrics = field(default_factory=SecurityMetrics)
    """Metrics that authenticators and authorizers share."""
    dashboard: DashboardSettings | None = None
    """The web page at /dashboard/; None: there is none. The caller runs `ApiServer.dashboard`."""
    dashboard_issuer: OidcIssuer | None = None
    """Issuer at which users of the dashboard can log in."""
    tracer: Tracer | None = None
    """Collects spans. The caller closes it."""
    proxy: UpstreamSettings = field(default_factory=UpstreamSettings)
    """Allowed destinations of proxied requests: kubelets, Pods, Services."""
    aggregation: AggregationSettings = field(default_factory=AggregationSettings)
    """Connections to the servers behind APIServices."""
    resource_metrics: ResourceMetricsSettings = field(default_factory=ResourceMetricsSettings)
    """Usage of nodes and Pods as metrics.k8s.io. The caller runs `ApiServer.scraper`."""
    flow_control: FlowControlSettings = field(default_factory=FlowControlSettings)
    """Concurrency limits of requests, in total and for each priority level."""
    unread: UnreadLimits = field(default_factory=UnreadLimits)
    """Maximum numbers of bytes that wait because clients do not read."""
    components: Components = field(default_factory=lambda: ELSEWHERE)
    controllers: ReportSource | None = None
    """Source of /debug/controllers; None: no controllers run next to this server."""
    """Health of controller-manager and scheduler."""
    faults: Filter | None = None
    """Injects faults into authorized requests, in tests; see `sampan.testing.faults`."""
    authorizations: AuthorizationObserver | None = None
    """Receives the decisions of verbs and admission plug-ins, in tests; see `sampan.testing.rights.privileges`."""


class ApiServer:
    """Serves one cluster; `handler` serves every request. **Raises** `OSError` if a file of the kubelet settings is
    unusable.

    Assumptions: the caller runs `cluster.run()`, `deadlines.run()`, `upstreams.run()` and `flow_control.run()`.
    """

    def __init__(
        self,
        cluster: Cluster,
        authenticators: Sequence[Authenticator],
        authorizers: Sequence[Authorizer] | None = None,
        *,
        settings: ApiServerSettings | None = None,
        server_address: Callable[[], str] = str,
        hosts: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """`hosts` returns the names and IP addresses in the serving certificates."""
        settings = settings or ApiServerSettings()
        self.cluster = cluster
        self.lifecycle = LifecycleSignals()
        self.health = Health(self.lifecycle, self._check_store, cluster.store.ready)
        self.loop_watch = LoopWatch(self._request_of)
        """Started by the process if this server is alone on the event loop."""
        self.deadlines = Deadlines(settings.flow_control.request_timeout_s, after_idle=self.loop_watch.note_request)
        configured = default_authorizers(cluster.reader) if authorizers is None else authorizers
        reviews = [ReviewAuthorizer()] if settings.dashboard is not None else []
        self.authorizer = observed([MastersAuthorizer(), *reviews, *configured], settings.authorizations)
        self.metrics = ServerMetrics(
            self.deadlines.under_way,
            store=cluster.measures.store,
            deciding=[each for each in (self.authorizer, *configured) if isinstance(each, DecisionCounting)],
            caches=self._caches,
            unread=UnreadBytes(settings.unread),
        )
        self._removed = RemovedResources(cluster.registry, self.metrics.forget)
        self.admission = self._admission(settings, configured)
        self.upstreams = ProxyUpstreams(cluster.reader, settings.proxy, cluster.tunnels)
        self.aggregator = Aggregator(cluster, self.upstreams.proxy, settings.aggregation)
        self._register_metrics(settings)
        self.discovery = Discovery(cluster.registry, server_address, self.aggregator)
        self.shared = self._shared(settings)
        self.scraper = Scraper(cluster.reader, self.upstreams, cluster.offload, settings.resource_metrics)
        self.routes = Routes(self._resources(settings))
        self.flow_control = FlowControl(cluster, settings.flow_control)
        self.dashboard: Dashboard | None = None
        if settings.dashboard is not None:
            roles = SuggestedRoles(rbac_of(configured, cluster.reader).rules_of)
            issuer, audit, authorizer = settings.dashboard_issuer, settings.audit, self.authorizer
            self.dashboard = Dashboard(
                settings.dashboard, authenticators, hosts, roles, issuer, audit, authorizer=authorizer
            )
            self.metrics.registry.register(self.dashboard.records.attempts)
        self._add_routes(settings)
        authenticator = UnionAuthenticator(authenticators, anonymous=settings.anonymous)
        self.handler = build_chain(self.aggregator.filter(self.routes.handle), self._parts(settings, authenticator))
        if self.dashboard is not None:
            self.dashboard.serve_stream(self.handler)

    async def begin(self) -> None:
        """Mark the server as ready, after everything is loaded."""
        self.lifecycle.serve()
        await self.health.begin()

    def _parts(self, settings: ApiServerSettings, authenticator: UnionAuthenticator) -> ChainParts:
        """Return the dependencies of the filters."""
        dashboard = self.dashboard
        return ChainParts(
            authenticator if dashboard is None else dashboard.authenticator(authenticator),
            self.authorizer,
            self.lifecycle,
            self.metrics,
            self.deadlines,
            monotonic,
            settings.cors_allowed_origins,
            settings.hsts_directives,
            settings.request_headers,
            self.flow_control.filter,
            settings.audit,
            None if dashboard is None else dashboard.filter,
            settings.tracer,
            settings.faults,
        )

    def _admission(self, settings: ApiServerSettings, configured: Sequence[Authorizer]) -> AdmissionChain:
        """Return the plug-ins, between the two checks against escalation that no option disables."""
        cluster, metrics = self.cluster, self.metrics.admission
        plugins = default_plugins(cluster, self.authorizer, settings.admission, metrics)
        rights = ParamRights(cluster, self.authorizer)
        escalation = RbacEscalation(rbac_of(configured, cluster.reader), self.authorizer)
        configuration = ChangeDetector(cluster, *configuring(plugins))
        return AdmissionChain([rights, *plugins, escalation], metrics, configuration.has_changed)

    def _shared(self, settings: ApiServerSettings) -> Shared:
        """Return the state that the verbs share."""
        return Shared(
            self.metrics.watches,
            self.authorizer,
            settings.identity,
            upstreams=self.upstreams,
            deprecated=self.metrics.deprecated,
            components=settings.components,
            offload=self.cluster.offload,
        )

    def _resources(self, settings: ApiServerSettings) -> Handler:
        """Return the handler of all resources that this server serves itself."""
        handler = resource_handler(self.cluster, self.admission, self.shared)
        if settings.dashboard is not None:
            reviews = {
                "selfnamespacesreviews": namespaces_review(self.cluster.reader, self.authorizer),
                "selfobjectsearches": object_search(self.cluster.registry, self.cluster.reader, self.authorizer),
            }
            handler = serving_reviews(handler, reviews)
        return serving_metrics(handler, self.cluster, self.scraper) if settings.resource_metrics.enabled else handler

    def _register_metrics(self, settings: ApiServerSettings) -> None:
        audit = settings.audit.metrics if settings.audit is not None else AuditMetrics()
        security = (settings.identity.counts, settings.security_metrics)
        for collector in (audit, self.aggregator.metrics, ClusterMetrics(self.cluster), self.loop_watch, *security):
            self.metrics.registry.register(collector)

    def _add_routes(self, settings: ApiServerSettings) -> None:
        routes = self.routes
        self._profiling = settings.profiling
        for path in ("/api", "/apis"):
            routes.add(path, self.discovery.handle, listed=False)
            routes.add_prefix(f"{path}/", self.discovery.handle)
        for endpoint in ENDPOINTS:
            routes.add(f"/{endpoint}", self.health.handle, listed=False)
            routes.add_prefix(f"/{endpoint}/", self.health.handle)
        openapi = OpenApi(self.cluster.registry, self.cluster.schemas, self.aggregator)
        routes.add("/openapi/v2", openapi.v2)
        routes.add("/openapi/v3", openapi.v3)
        routes.add_prefix("/openapi/v3/", openapi.v3)
        routes.add_prefix(TUNNELS, TunnelEndpoint(self.cluster.tunnels, self.cluster.reader).handle)
        routes.add_service("/version", show_version)
        routes.add("/metrics", self._metrics)
        routes.add("/metrics/slis", self._slis)
        routes.add("/statusz", statusz("apiserver", routes.paths))
        routes.add("/flagz", flagz("apiserver", settings.flags))
        if settings.identity.discovery is not None:
            settings.identity.discovery.install(routes)
        if settings.profiling:
            Profiling().install(routes)
        self.controllers = ControllersRoute(settings.controllers)
        self.controllers.install(routes)
        self.flow_control.install(routes, self.metrics.registry)
        if self.dashboard is not None:
            self.dashboard.install(routes)
        index = index_handler(self._paths)
        routes.add("/", index, listed=False)
        routes.add("/index.html", index, listed=False)

    def _paths(self) -> list[str]:
        return [*self.discovery.paths(), *self.health.paths(), *self.routes.paths()]

    def _request_of(self, task: asyncio.Task[object]) -> Request | None:
        return self.deadlines.request_of(task)

    async def _check_store(self) -> None:
        await self.cluster.store.revision()

    async def _metrics(self, request: Request) -> Response:
        size_bytes = None  # during an outage the other metrics matter most
        with suppress(StoreUnavailable):
            size_bytes = await self.cluster.store.size_bytes()
        self.metrics.storage(self._count_objects(), size_bytes)
        self._removed.forget_late()
        return Response(200, await self.metrics.exposition(), CONTENT_TYPE)

    def _count_objects(self) -> dict[GroupResource, int]:
        caches = self._caches()
        for cache in caches.values():
            cache.poll()
        return {resource: len(cache) for resource, cache in caches.items()}

    def _caches(self) -> dict[GroupResource, WatchCache]:
        caches = self.cluster.caches
        return {
            definition.group_resource: caches[definition.storage_prefix]
            for definition in self.cluster.registry.definitions()
            if definition.storage_prefix in caches and definition.group_resource not in _STORED_ELSEWHERE
        }

    async def _slis(self, request: Request) -> Response:
        if request.wire.method == "DELETE" and self._profiling:
            self.health.metrics.reset()
            return text_response(200, RESET)
        return Response(200, self.health.metrics.exposition(), CONTENT_TYPE)
