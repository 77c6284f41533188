"""/statusz and /flagz: status and flags of a running server as text.

Source: component-base zpages/{statusz,flagz} (1.36).
"""

import platform
from collections.abc import Callable, Iterable

from sampan.core.clock import utc_now
from sampan.core.kubernetes_version import MAJOR, MINOR
from sampan.server.request import Handler, MetricLabels, Request, Response
from sampan.server.routes.version import GIT_VERSION

_TEXT = "text/plain; charset=utf-8"
_WARNING = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees."


def statusz(component: str, paths: Callable[[], Iterable[str]]) -> Handler:
    """Return a handler that shows version, start time and uptime."""
    started, counted = utc_now(), MetricLabels(resource="statusz", component=component)

    async def handle(request: Request) -> Response:
        request.counted = counted
        up = utc_now() - started
        lines = [
            f"\n{component} statusz\n{_WARNING}\n",
            f"Started: {started:%a %b %d %H:%M:%S UTC %Y}",
            f"Up: {up.days * 24 + up.seconds // 3600} hr {up.seconds // 60 % 60:02} min {up.seconds % 60:02} sec",
            f"Python version: {platform.python_version()}",
            f"Binary version: {GIT_VERSION}",
            f"Emulation version: {MAJOR}.{MINOR}",
            f"Paths: {' '.join(sorted(paths()))}",
        ]
        return Response(200, ("\n".join(lines) + "\n").encode(), _TEXT)

    return handle


def flagz(component: str, flags: Iterable[tuple[str, str]]) -> Handler:
    """Return a handler that shows the flags of the process."""
    lines = [f"\n{component} flagz\n{_WARNING}\n", *(f"{name}={value}" for name, value in sorted(flags))]
    body, counted = ("\n".join(lines) + "\n").encode(), MetricLabels(resource="flagz", component=component)

    async def handle(request: Request) -> Response:
        request.counted = counted
        return Response(200, body, _TEXT)

    return handle
