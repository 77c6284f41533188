"""`RequestScope`: one resource request, with the context that all verbs need."""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from sampan.core.event_loop.offload import Offload
from sampan.core.event_loop.turns import TurnQueue
from sampan.core.time import Clock
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.write import Observer
from sampan.server.admission.chain import AdmissionChain, AdmissionObserver
from sampan.server.authentication.token_service import TokenService
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.metrics.watches import WatchMetrics
from sampan.server.proxy.upstreams import ProxyUpstreams
from sampan.server.request import Request
from sampan.server.verbs.bookmark_times import BookmarkTimes
from sampan.server.verbs.components import ELSEWHERE, Components
from sampan.server.verbs.representations.bodies import ListBodies
from sampan.server.verbs.representations.messages import MessageCache
from sampan.server.verbs.representations.tables import RowCache


@dataclass(frozen=True, slots=True)
class Shared:
    """State that the requests of one server share: metrics, and caches of list bodies, protobuf messages and table
    rows.
    """

    watches: WatchMetrics
    """Metrics of watches."""
    authorizer: Authorizer
    """Authorizer, also for access reviews."""
    identity: TokenService = field(default_factory=TokenService)
    """Issuer and reviewer of tokens."""
    upstreams: ProxyUpstreams = field(kw_only=True)
    """Proxies for logs, exec and proxied requests."""
    deprecated: set[tuple[str, str, str, str]] = field(kw_only=True)
    """Deprecated versions that were requested: group, version, resource and subresource."""
    components: Components = field(default_factory=lambda: ELSEWHERE)
    """Health checks of the scheduler and the controllers, for componentstatuses."""
    offload: Offload = field(default_factory=Offload)
    """Threads for the computations of large requests."""
    turn_queue: TurnQueue = field(default_factory=TurnQueue)
    """Turns of the event loop for selecting and encoding many events."""
    rewriting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Limit of threads that convert large bodies to another format. More than one would slow the loop."""
    whole_lists: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    """Limit of large lists that are made whole at the same time: in protobuf, YAML or indented."""
    joining: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Limit of large lists that are joined for the cache at the same time. Each needs its size in memory."""
    bookmark_times: BookmarkTimes = field(default_factory=BookmarkTimes)
    """Times of the bookmarks of watches."""
    bodies: ListBodies = field(default_factory=ListBodies)
    messages: MessageCache = field(default_factory=MessageCache)
    rows: RowCache = field(default_factory=RowCache)

    def forget_unused(self, now: float) -> None:
        """Drop from all caches what was not used lately. Call it periodically with the loop time."""
        for cache in (self.bodies, self.messages, self.rows):
            cache.forget_unused(now)


class ScopeObserver(Observer, AdmissionObserver, Protocol):
    """Observer of a whole request."""


class RequestScope(msgspec.Struct, eq=False):
    """`request` for one `endpoint`. Strategies get `ctx`."""

    request: Request
    endpoint: Endpoint
    admission: AdmissionChain
    cluster: Cluster
    shared: Shared
    ctx: Context
    observer: ScopeObserver | None = None
    """Observer of the steps of a write and of admission plug-ins, such as a trace."""

    @property
    def clock(self) -> Clock:
        """Return the clock of the cluster."""
        return self.cluster.clock


def context_of(request: Request, endpoint: Endpoint) -> Context:
    """Return the context of a request for its strategy."""
    info, user = request.info, request.user
    return Context(
        user.name if user else "",
        user.groups if user else (),
        user.uid if user else "",
        user.extra if user else {},
        info.namespace if endpoint.definition.namespaced else "",
        info.name,
        bool(request.wire.query.get("dryRun")),
        info.subresource,
        request.headers.get("user-agent", ""),
        request.headers.get("traceparent", ""),
    )
