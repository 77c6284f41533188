"""`HealthChecks`: an HTTP server for each health check port of a Service with the external policy Local.

A load balancer sends requests to it to find the nodes that have endpoints of the Service.
Concurrency: each listener is a task of the group that `run` owns.
Source: pkg/proxy/healthcheck/service_health.go (1.36).
"""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sampan.http.server import HttpLimits, HttpListener, Request, Response

_log = logging.getLogger("sampan.proxy")

_LIMITS: Final = HttpLimits(keep_alive=False)


@dataclass(slots=True)
class _Check:
    service: str
    port: int
    endpoints: int
    task: asyncio.Task[None] | None = field(default=None)


class HealthChecks:
    """The health check ports of Services."""

    def __init__(self, is_healthy: Callable[[], bool], host: str = "") -> None:
        """`is_healthy` reports the health of the proxy. `host` "" listens at all addresses."""
        self._is_healthy = is_healthy
        self._host = host
        self._checks: dict[str, _Check] = {}
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Serve until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for check in self._checks.values():
                self._start(check)
            await asyncio.get_running_loop().create_future()

    def put(self, service: str, desired: tuple[int, int] | None) -> None:
        """Set the port and the number of local endpoints of a Service; None removes its check."""
        known = self._checks.get(service)
        if known is not None and (desired is None or known.port != desired[0]):
            if known.task is not None:
                known.task.cancel()
            del self._checks[service]
            known = None
        if desired is None:
            return
        if known is None:
            known = self._checks[service] = _Check(service, *desired)
            self._start(known)
        known.endpoints = desired[1]

    def respond(self, service: str, endpoints: int) -> Response:
        """Return the response for a Service."""
        namespace, _, name = service.partition("/")
        healthy = self._is_healthy()
        report = {
            "service": {"namespace": namespace, "name": name},
            "localEndpoints": endpoints,
            "serviceProxyHealthy": healthy,
        }
        headers = {"x-content-type-options": "nosniff", "x-load-balancing-endpoint-weight": str(endpoints)}
        body = json.dumps(report).encode()
        return Response(200 if healthy and endpoints else 503, body, "application/json", headers)

    def _start(self, check: _Check) -> None:
        if self._tasks is not None:
            check.task = self._tasks.create_task(self._serve(check), name=f"health checks of {check.service}")

    async def _serve(self, check: _Check) -> None:
        async def respond(request: Request) -> Response:
            return self.respond(check.service, check.endpoints)

        try:
            await HttpListener(respond, self._host, check.port, limits=_LIMITS).run()
        except OSError as error:
            _log.error("cannot serve the health checks of Service %s at port %d: %s", check.service, check.port, error)
