"""`Scope`: one resource request with what all verbs need of it."""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from sampan.core.offload import Offload
from sampan.core.time import Clock
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.write import Observer
from sampan.server.admission.chain import AdmissionChain, AdmissionObserver
from sampan.server.authentication.identity import NO_IDENTITY, Identity
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.proxy.upstreams import Upstreams
from sampan.server.request import Request
from sampan.server.verbs.bodies import ListBodies
from sampan.server.verbs.components import ELSEWHERE, Components
from sampan.server.verbs.messages import MessageCache
from sampan.server.verbs.tables import RowCache
from sampan.server.watch_metrics import WatchMetrics


@dataclass(frozen=True, slots=True)
class Shared:
    """What the requests of one server share: what is counted; kept list bodies, protobuf messages and table rows."""

    watches: WatchMetrics
    """Counts what watches send."""
    authorizer: Authorizer
    """Answers the access reviews."""
    identity: Identity = NO_IDENTITY
    """Issues and reviews tokens."""
    upstreams: Upstreams = field(kw_only=True)
    """Where logs, exec and proxied requests go."""
    deprecated: set[tuple[str, str, str, str]] = field(kw_only=True)
    """Deprecated versions that were asked for: group, version, resource and subresource."""
    components: Components = field(default_factory=lambda: ELSEWHERE)
    """How componentstatuses know of the scheduler and the controllers."""
    offload: Offload = field(default_factory=Offload)
    """Threads for the computations of large requests."""
    rewriting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Large bodies are put into another format in threads, one at a time: more would take the time from the loop."""
    bodies: ListBodies = field(default_factory=ListBodies)
    messages: MessageCache = field(default_factory=MessageCache)
    rows: RowCache = field(default_factory=RowCache)


class ScopeObserver(Observer, AdmissionObserver, Protocol):
    """Observer of a whole request."""


@dataclass(slots=True)
class Scope:
    """`request` for one `endpoint`; `ctx` is what strategies see."""

    request: Request
    endpoint: Endpoint
    admission: AdmissionChain
    cluster: Cluster
    shared: Shared
    observer: ScopeObserver | None = None
    """Observes the steps of a write and the plug-ins of admission, such as a trace."""
    ctx: Context = field(init=False)

    @property
    def clock(self) -> Clock:
        """The cluster's time."""
        return self.cluster.clock

    def __post_init__(self) -> None:
        info, user = self.request.info, self.request.user
        self.ctx = Context(
            user=user.name if user else "",
            groups=user.groups if user else (),
            uid=user.uid if user else "",
            extra=user.extra if user else {},
            namespace=info.namespace if self.endpoint.definition.namespaced else "",
            name=info.name,
            dry_run=bool(self.request.query.get("dryRun")),
            subresource=info.subresource,
        )
