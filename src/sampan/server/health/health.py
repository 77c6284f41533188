"""`Health`: /healthz, /livez and /readyz with their checks.

Source: apiserver pkg/server/healthz/healthz.go, pkg/server/healthz.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from sampan.core.field import quote
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.health.metrics import HealthMetrics
from sampan.server.post_start_hooks.names import AFTER_AUTOREGISTER, BEFORE_AUTOREGISTER, check_names
from sampan.server.request import MetricLabels, Request, Response
from sampan.server.status import text_response
from sampan.storage.store import StoreDamaged, StoreFull

_log = logging.getLogger("sampan.health")

ENDPOINTS = ("healthz", "livez", "readyz")
STORE_TIMEOUT_S = 2.0
_STORE_FAULTS = (("storage-space", StoreFull), ("storage-integrity", StoreDamaged))
"""Checks that each fail for one fault. Their names show why the store refuses writes."""
_STARTED = (*check_names(BEFORE_AUTOREGISTER), "autoregister-completion", *check_names(AFTER_AUTOREGISTER))
_LAST = ("informer-sync", *_STARTED, "shutdown")
_NOT_STARTED = "not finished"

CheckFunction = Callable[[], Awaitable[object]]


class HealthCheck(NamedTuple):
    """Named check. `run` raises if it fails; the exception is only logged."""

    name: str
    run: CheckFunction


class Health:
    """Checks of each endpoint, in order. Results are also counted for /metrics/slis."""

    def __init__(self, lifecycle: LifecycleSignals, store: CheckFunction, writes: CheckFunction | None = None) -> None:
        """`store` raises if the store cannot be read. `writes` returns if the store accepts writes; by default it is
        `store`.
        """
        self._checks: dict[str, list[HealthCheck]] = {endpoint: [] for endpoint in ENDPOINTS}
        self._counted = {endpoint: MetricLabels(f"/{endpoint}", component="") for endpoint in ENDPOINTS}
        self.metrics = HealthMetrics()
        self.add("ping", _pass)
        self.add("log", _pass)
        self.add("loopback-serving-certificate", _pass, endpoints=("healthz", "livez"))
        self.add("etcd", _timed(store, STORE_TIMEOUT_S))
        readiness = _timed(writes or store, STORE_TIMEOUT_S)
        self.add("etcd-readiness", readiness, endpoints=("readyz",))
        for name, kind in _STORE_FAULTS:
            self.add(name, _only(kind, readiness), endpoints=("readyz",))

        async def synced() -> None:
            if not lifecycle.serving:
                raise RuntimeError(_NOT_STARTED)

        async def not_stopping() -> None:
            if lifecycle.stopping:
                raise RuntimeError("process is shutting down")

        self.add("informer-sync", synced, endpoints=("readyz",))
        for name in _STARTED:
            self.add(name, synced)
        self.add("shutdown", not_stopping, endpoints=("readyz",))

    def add(self, name: str, run: CheckFunction, endpoints: Sequence[str] = ENDPOINTS) -> None:
        """Add a check to these endpoints, before the checks of startup and shutdown."""
        for endpoint in endpoints:
            checks = self._checks[endpoint]
            rank = _LAST.index(name) if name in _LAST else -1
            place = len(checks)
            while place and checks[place - 1].name in _LAST and _LAST.index(checks[place - 1].name) > rank:
                place -= 1
            checks.insert(place, HealthCheck(name, run))

    async def handle(self, request: Request) -> Response:
        """Serve `/readyz` and `/readyz/<check>`."""
        endpoint, below, name = request.wire.path[1:].partition("/")
        checks = self._checks[endpoint]
        if not below:
            request.counted = self._counted[endpoint]
            return await self._all(endpoint, checks, request)
        for check in checks:
            if check.name == name:
                return await _single(check)
        return text_response(404, "404 page not found\n")

    async def begin(self) -> None:
        """Run the checks of /readyz once, so that /metrics/slis has every check from the start."""
        for check in self._checks["readyz"]:
            self.metrics.count(check.name, "readyz", passed=await _run(check) is None)

    def paths(self) -> list[str]:
        """Return all paths for the index."""
        return [
            f"/{e}{suffix}" for e, checks in self._checks.items() for suffix in ("", *(f"/{c.name}" for c in checks))
        ]

    async def _all(self, endpoint: str, checks: Sequence[HealthCheck], request: Request) -> Response:
        excluded = dict.fromkeys(request.wire.query.get("exclude", ()))
        lines, failed = [], []
        selected = [check for check in checks if check.name not in excluded]
        # Run the checks concurrently: if the store hangs, each of its checks takes its whole timeout.
        errors = dict(zip(selected, await asyncio.gather(*map(_run, selected)), strict=True))
        for check in checks:
            if check.name in excluded:
                excluded[check.name] = None
                lines.append(f"[+]{check.name} excluded: ok\n")
                continue
            error = errors[check]
            self.metrics.count(check.name, endpoint, passed=error is None)
            if error is None:
                lines.append(f"[+]{check.name} ok\n")
            else:
                failed.append(f"{check.name}: {error!r}")
                lines.append(f"[-]{check.name} failed: reason withheld\n")
        unknown = sorted(set(excluded) - {check.name for check in checks})
        if unknown:
            names = ",".join(quote(name) for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        if failed:
            _log.warning("health check failed", extra={"endpoint": endpoint, "checks": "; ".join(failed)})
            return text_response(500, f"{''.join(lines)}{endpoint} check failed\n")
        if "verbose" in request.wire.query:
            return text_response(200, f"{''.join(lines)}{endpoint} check passed\n")
        return text_response(200, "ok")


async def _single(check: HealthCheck) -> Response:
    error = await _run(check)
    if error is None:
        return Response(200, b"ok", "text/plain; charset=utf-8")
    return text_response(500, f"internal server error: {error}\n")


async def _run(check: HealthCheck) -> Exception | None:
    try:
        await check.run()
    except Exception as error:
        return error
    return None


async def _pass() -> None:
    return None


def _only(kind: type[Exception], run: CheckFunction) -> CheckFunction:
    """Return a check that calls `run` and fails only if it raises this error."""

    async def check() -> None:
        try:
            await run()
        except kind:
            raise
        except Exception:
            return  # a different check reports it

    return check


def _timed(run: CheckFunction, limit_s: float) -> CheckFunction:
    async def timed() -> None:
        async with asyncio.timeout(limit_s):
            await run()

    return timed
