"""The frame around a handler of the test's own: all filters, a few users, no cluster."""

import asyncio
from dataclasses import dataclass, field

from sampan.server.audit.audit import Audit
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.static_token import StaticTokenAuthenticator
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Decision, Verdict
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.chain import ChainParts, build_chain
from sampan.server.filters.deadline import Deadlines
from sampan.server.filters.tracing import Tracer
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.metrics.server import ServerMetrics
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.request import Handler, Request, RequestInfo, Response, UserInfo
from tests.server.client import Client

TOKENS = {
    "master-token": UserInfo("admin", groups=("system:masters",)),
    "jane-token": UserInfo("jane", "u-1", ("devs",)),
}
MASTER = {"authorization": "Bearer master-token"}
JANE = {"authorization": "Bearer jane-token"}


class PublicPathsAuthorizer:
    """Lets everybody see how the server is, as the role system:public-info-viewer does; fails at /fault."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        if info.path == "/fault":
            return Verdict(Decision.DENY, error="no answer")
        public = info.path.startswith(("/healthz", "/livez", "/readyz", "/version"))
        return ALLOWED if public and info.verb in ("get", "head") else NO_OPINION


@dataclass
class Frame:
    """Built in a running loop."""

    route: Handler
    cors: tuple[str, ...] = ()
    hsts: tuple[str, ...] = ()
    timeout_s: float = 60.0
    lifecycle: LifecycleSignals = field(default_factory=LifecycleSignals)
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    audit: Audit | None = None
    tracer: Tracer | None = None

    def __post_init__(self) -> None:
        self.deadlines = Deadlines(self.timeout_s)
        self.handler = build_chain(
            self.route,
            ChainParts(
                UnionAuthenticator(
                    [
                        ClientCertificateAuthenticator(ClientCertificateVerifier([])),
                        BearerTokenAuthenticator([StaticTokenAuthenticator(TOKENS)]),
                    ]
                ),
                UnionAuthorizer([MastersAuthorizer(), PublicPathsAuthorizer()]),
                self.lifecycle,
                self.metrics,
                self.deadlines,
                asyncio.get_running_loop().time,
                self.cors,
                self.hsts,
                audit=self.audit,
                tracer=self.tracer,
            ),
        )

    def client(self, headers: dict[str, str] | None = None) -> Client:
        """A client, with the rights of `system:masters` by default."""
        return Client(self.handler, MASTER if headers is None else headers)


async def ok(request: Request) -> Response:
    """Answers everything."""
    return Response(body=b"{}")
