"""`NodeServer`: HTTPS server of a process that runs nodes, with the kubelet's API.

One server serves all nodes of a process, because requests name a Pod by namespace and name.
Concurrency: `run` owns the listener, which has a task for each connection; streams have tasks below it.
Source: kubelet pkg/kubelet/server/server.go `InstallAuthFilter` (1.36).
"""

import logging
from collections.abc import Callable

from prometheus_client import CollectorRegistry, ProcessCollector

from sampan.client import Client, ClientError
from sampan.core.time import Clock, SystemClock
from sampan.core.tls.certificates import KeyPair
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.http.server import AnyResponse, HttpLimits, HttpListener, Request, Response
from sampan.node.server.handlers import Handlers
from sampan.node.server.hosted import FindPod, ListPods
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.tls import serving_context
from sampan.node.server.trust import DelegatedAuthentication, DelegatedAuthorization, attributes_of
from sampan.node.server.usage import ReadVolumeStats, host_usage, no_volume_stats
from sampan.node.server.volume_metrics import VolumeCollector
from sampan.node.sessions import ContainerStats

_log = logging.getLogger("sampan.node.server")

_BODY_BYTES_MAX = 4096


class NodeServer:
    """Serves the Pods that `pods` returns. The API server authorizes the users."""

    needs_leader_election = False

    def __init__(
        self,
        pods: FindPod,
        options: NodeServerOptions = NodeServerOptions(),
        *,
        listing: ListPods = tuple,
        client: Client | None = None,
        clock: Clock | None = None,
        node_usage: Callable[[], ContainerStats | None] = host_usage,
        volume_stats: ReadVolumeStats = no_volume_stats,
    ) -> None:
        """`listing` returns all Pods, for lists and metrics. `volume_stats`: returns the statistics of their volumes.

        `client` reviews tokens and permissions with the API server; without it, only client certificates of
        `system:masters` are accepted.
        Raises `ssl.SSLError` for malformed authorities.
        """
        clock = clock or SystemClock()
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        VolumeCollector(registry, listing, volume_stats)
        self._handlers = Handlers(pods, listing, node_usage, options, clock, registry, clock.now(), volume_stats)
        self._authentication = DelegatedAuthentication(client, clock)
        self._authorization = DelegatedAuthorization(client, options.node_name, clock)
        limits = HttpLimits(
            body_bytes_max=lambda path: _BODY_BYTES_MAX,
            connections_max=options.connections_max,
            idle_timeout_s=90.0,
            request_timeout_s=60.0,
            upgrades=True,
            close_timeout_s=30.0,
        )
        self._tls = serving_context(options, clock)
        self._listener = HttpListener(self.respond, options.host, options.port, limits=limits, tls=self._tls)

    def __str__(self) -> str:
        return "node server"

    @property
    def port(self) -> int:
        """Port on which the server listens; valid once it is ready."""
        return self._listener.port

    def use_certificate(self, certificate: KeyPair) -> None:
        """Use another certificate for new connections. Raises `ssl.SSLError`."""
        load_certificate(self._tls, ClientCertificate(certificate.certificate_pem(), certificate.key_pem()))

    async def ready(self) -> None:
        """Wait until the server listens."""
        await self._listener.ready()

    async def run(self) -> None:
        """Serve until cancelled. Raises `OSError` in an `ExceptionGroup` if it cannot listen."""
        await self._listener.run()

    async def respond(self, request: Request) -> AnyResponse:
        """Authenticate and authorize one request, and return the response."""
        user = await self._authentication.user_of(request)
        if user is None:
            return Response(401, b"Unauthorized")
        attributes = attributes_of(request.method, request.path)
        shown = f"user={user.name}, verb={attributes.verb}, resource=nodes, subresource"
        try:
            allowed = await self._authorization.allows(user, attributes)
        except ClientError as error:
            _log.warning("cannot authorize %s: %s", user.name, error)
            return Response(500, f"Authorization error ({shown}={attributes.subresources[0]})".encode())
        if not allowed:
            return Response(403, f"Forbidden ({shown}(s)=[{' '.join(attributes.subresources)}])\n".encode())
        return await self._handlers.respond(request)
