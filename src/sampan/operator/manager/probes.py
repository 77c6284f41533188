"""`Probes`: /healthz, /readyz and, with a registry, /metrics on a small listener. It serves GET and HEAD, without TLS.

Concurrency: `run` owns the listener. Each connection is one task and serves one request.

Source: controller-runtime pkg/healthz/healthz.go (0.24).
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from sampan.http.server import HttpLimits, HttpListener, Request, Response

_log = logging.getLogger("sampan.manager")

_LIMITS: Final = HttpLimits(keep_alive=False)

Check = Callable[[], Awaitable[None] | None]
"""Returns if healthy, else raises. It must return quickly."""


class Probes:
    """Serves health, readiness and metrics. Each check also has its own path: `/healthz/ping`."""

    needs_leader_election = False

    def __init__(self, registry: CollectorRegistry | None, address: str) -> None:
        self._registry = registry
        host, _, port = address.rpartition(":")
        self._listener = HttpListener(self.respond, host.strip("[]"), int(port), limits=_LIMITS)
        self._checks: dict[str, dict[str, Check]] = {
            "healthz": {"ping": lambda: None},
            "readyz": {"ping": lambda: None},
        }

    def __str__(self) -> str:
        return "probes"

    @property
    def port(self) -> int:
        """Port of the listener, once it is ready."""
        return self._listener.port

    def add_healthz_check(self, name: str, check: Check) -> None:
        """Add a liveness check: if it fails, the process should be restarted. Raises `ValueError` if the name is in
        use.
        """
        self._add("healthz", name, check)

    def add_readyz_check(self, name: str, check: Check) -> None:
        """Add a readiness check: if it fails, the process should get no requests. Raises `ValueError` if the name is in
        use.
        """
        self._add("readyz", name, check)

    async def ready(self) -> None:
        """Wait until the listener accepts connections."""
        await self._listener.ready()

    async def run(self) -> None:
        """Serve until cancelled. Raises `OSError` if it cannot listen."""
        await self._listener.run()

    async def respond(self, request: Request) -> Response:
        """Return the response to a request."""
        if request.method not in ("GET", "HEAD"):
            return Response(405, b"only GET\n")
        query = request.query
        kind, _, name = request.path.strip("/").partition("/")
        if kind == "metrics" and not name and self._registry is not None:
            return Response(200, generate_latest(self._registry), CONTENT_TYPE_LATEST)
        checks = self._checks.get(kind)
        if checks is None or (name and name not in checks):
            return Response(404, b"404 page not found\n")
        selected = {name: checks[name]} if name else checks
        left = {each: check for each, check in selected.items() if each not in query.get("exclude", [])}
        return await self._report(kind, left, verbose="verbose" in query)

    def _add(self, kind: str, name: str, check: Check) -> None:
        if name in self._checks[kind]:
            raise ValueError(f"there is a {kind} check {name!r} already")
        self._checks[kind][name] = check

    async def _report(self, kind: str, checks: dict[str, Check], *, verbose: bool) -> Response:
        lines, failed = [], False
        for name, check in checks.items():
            try:
                outcome = check()
                if inspect.isawaitable(outcome):
                    await outcome
            except Exception as error:
                failed = True
                _log.warning("%s check %s failed: %s", kind, name, error)
                lines.append(f"[-]{name} failed: reason withheld")
            else:
                lines.append(f"[+]{name} ok")
        if not failed and not verbose:
            return Response(200, b"ok")
        lines.append(f"{kind} check {'failed' if failed else 'passed'}\n")
        return Response(500 if failed else 200, "\n".join(lines).encode())
