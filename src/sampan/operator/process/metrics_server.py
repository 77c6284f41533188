"""`MetricsServer`: /metrics, /debug/failing, /debug/controllers and perhaps /debug/pprof/, with TLS and access reviews.

A request through the API server's proxy has no credentials. For /debug/controllers, the key of `Place` stands for them.

Concurrency: `run` owns the tasks of the certificates and of the listener (one for each connection).
Source: controller-runtime pkg/metrics/server/server.go (0.24).
"""

import asyncio
from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from sampan.http.pprof.endpoint import PREFIX, ProfileEndpoint
from sampan.http.server import HttpLimits, HttpListener, Request, Response
from sampan.operator.controller.failing import FailingObject, as_json
from sampan.operator.process.access import AccessReviews
from sampan.operator.reports import PATH, ControllerReports, Place
from sampan.operator.rights import Right
from sampan.operator.webhook.certificates import CertificateSource
from sampan.operator.webhook.serving_tls import ServingContext

_LIMITS: Final = HttpLimits(head_bytes_max=65_536, request_timeout_s=70.0, connections_max=32)
"""A CPU profile takes at most 55 s."""


class MetricsServer:
    """Runnable that serves metrics. Without `certificates` it uses no TLS, without `access` it serves every client."""

    needs_leader_election = False

    def __init__(
        self,
        registry: CollectorRegistry,
        address: str,
        *,
        access: AccessReviews | None,
        certificates: CertificateSource | None,
        profiles: bool = False,
        failing: Callable[..., list[FailingObject]] | None = None,
        reports: ControllerReports | None = None,
        place: Place | None = None,
    ) -> None:
        """`failing` returns the objects for /debug/failing; None: this path is not served, and so is that of `reports`.

        `place` has the key with which /debug/controllers needs no review.
        """
        host, _, port = address.rpartition(":")
        self._registry = registry
        self._host, self._port = host.strip("[]"), int(port)
        self._access = access
        self._certificates = certificates
        self._profiles = ProfileEndpoint() if profiles else None
        self._failing = failing
        self._reports, self._place = reports, place
        self._listener: HttpListener | None = None
        self._listening = asyncio.Event()

    def __str__(self) -> str:
        return "metrics server"

    @property
    def port(self) -> int:
        """Port of the listener, once it is ready."""
        return self._port if self._listener is None else self._listener.port

    def rights(self) -> list[Right]:
        """Return the rights of access reviews."""
        return [] if self._access is None else self._access.rights()

    async def ready(self) -> None:
        """Wait until the listener accepts connections."""
        await self._listening.wait()

    async def run(self) -> None:
        """Serve until cancelled. Raises `OSError` if it cannot listen."""
        if self._certificates is None:
            await self._serve(HttpListener(self.respond, self._host, self._port, limits=_LIMITS))
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._certificates.run(), name="certificates of the metrics server")
            await self._certificates.ready()
            tls = ServingContext(self._certificates).context
            await self._serve(HttpListener(self.respond, self._host, self._port, limits=_LIMITS, tls=tls))

    async def respond(self, request: Request) -> Response:
        """Return the response to a request."""
        if self._access is not None and not self._has_key(request):
            refusal = await self._access.refusal(request)
            if refusal is not None:
                return refusal
        if request.method not in ("GET", "HEAD"):
            return Response(405, b"only GET\n")
        path = request.path
        if path == "/metrics":
            return Response(200, generate_latest(self._registry), CONTENT_TYPE_LATEST)
        if self._profiles is not None and (path == PREFIX.rstrip("/") or path.startswith(PREFIX)):
            found = await self._profiles.respond(path, lambda name: request.query.get(name, [""])[0])
            return Response(found.code, found.body, found.media_type, found.headers)
        if self._failing is not None and path == "/debug/failing":
            tries = request.query.get("tries-min", ["1"])[0]
            if not (tries.isdecimal() and tries.isascii() and len(tries) < 10):
                return Response(400, b"tries-min must be a number\n")
            return Response(200, as_json(self._failing(tries_min=int(tries))), "application/json")
        if self._reports is not None and path == PATH:
            return _reported(self._reports, request)
        return Response(404, b"404 page not found\n")

    def _has_key(self, request: Request) -> bool:
        return request.path == PATH and self._place is not None and self._place.accepts(request.headers)

    async def _serve(self, listener: HttpListener) -> None:
        self._listener = listener
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(listener.run(), name="listener of the metrics server")
            await listener.ready()
            self._listening.set()


def _reported(reports: ControllerReports, request: Request) -> Response:
    """Return a report as a response. Browsers must not store it."""
    found = reports.report(request.target.partition("?")[2], request.headers.get("if-none-match", ""))
    media_type = "application/json" if found.code == 200 else "text/plain; charset=utf-8"
    headers = {"cache-control": "no-store", **({"etag": found.tag} if found.tag else {})}
    return Response(found.code, found.body, media_type, headers)
