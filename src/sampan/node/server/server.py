"""`NodeServer`: HTTPS server of a process that runs nodes, with the kubelet's API.

One server serves all nodes of a process, because requests name a Pod by namespace and name.
Concurrency: `run` owns the listener, which has a task for each connection; streams have tasks below it.
Source: kubelet pkg/kubelet/server/server.go `InstallAuthFilter` (1.36).
"""

import datetime as dt
import logging
import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sampan.client import Client, ClientError
from sampan.core.time import Clock, SystemClock
from sampan.core.tls.certificates import KeyPair, make_authority, make_server_certificate
from sampan.core.tls.cipher_suites import use_suites
from sampan.core.tls.trust import trust
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.http.server import AnyResponse, HttpLimits, HttpListener, Request, Response
from sampan.node.server.handlers import Handlers
from sampan.node.server.hosted import FindPod, ListPods
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.trust import DelegatedAuthentication, DelegatedAuthorization, attributes_of
from sampan.node.server.usage import ReadVolumeStats, host_usage, no_volume_stats
from sampan.node.sessions import ContainerStats

_log = logging.getLogger("sampan.node.server")

_BODY_BYTES_MAX = 4096
_CERTIFICATE_LIFETIME: Final = dt.timedelta(days=365)
_VOLUME_LABELS: Final = ("namespace", "persistentvolumeclaim")
_VOLUME_METRICS: Final = {
    "capacityBytes": ("kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume"),
    "availableBytes": ("kubelet_volume_stats_available_bytes", "Number of available bytes in the volume"),
    "usedBytes": ("kubelet_volume_stats_used_bytes", "Number of used bytes in the volume"),
    "inodes": ("kubelet_volume_stats_inodes", "Maximum number of inodes in the volume"),
    "inodesFree": ("kubelet_volume_stats_inodes_free", "Number of free inodes in the volume"),
    "inodesUsed": ("kubelet_volume_stats_inodes_used", "Number of used inodes in the volume"),
}
"""Name and help text of the metric for each field of /stats/summary."""


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


def serving_context(options: NodeServerOptions, clock: Clock) -> ssl.SSLContext:
    """Return a TLS context with a new self-signed certificate. Raises `ssl.SSLError` for malformed authorities."""
    now = clock.now()
    name = options.node_name or "node"
    authority = make_authority(f"{name}-ca", now, _CERTIFICATE_LIFETIME)
    hosts = list(options.addresses) or ["localhost", "127.0.0.1"]
    shown = make_server_certificate(authority, hosts, now, _CERTIFICATE_LIFETIME, common_name=name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    use_suites(context)
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    load_certificate(context, ClientCertificate(shown.certificate_pem(), shown.key_pem()))
    if options.client_ca:
        trust(context, options.client_ca)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


class VolumeCollector(Collector):
    """Collector of the volumes of claims, for /metrics. A claim that several Pods use counts once.

    Source: kubelet pkg/kubelet/metrics/collectors/volume_stats.go (1.36).
    """

    def __init__(self, registry: CollectorRegistry, pods: ListPods, volume_stats: ReadVolumeStats) -> None:
        self._pods = pods
        self._volume_stats = volume_stats
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        """Return a metric family for each field. A family without volumes is omitted."""
        found: dict[tuple[str, str], Any] = {}
        for hosted in self._pods():
            for figures in self._volume_stats(hosted.pod.metadata.uid):
                claim = figures.get("pvcRef")
                if claim is not None:
                    found.setdefault((claim["namespace"], claim["name"]), figures)
        for field, (name, text) in _VOLUME_METRICS.items():
            family = GaugeMetricFamily(name, text, labels=_VOLUME_LABELS)
            for labels, figures in found.items():
                if field in figures:
                    family.add_metric(labels, figures[field])
            if family.samples:
                yield family
