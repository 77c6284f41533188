"""`Profiling`: handlers of the paths below /debug/pprof.

Only users with all rights may use them. Nothing is measured before a request. A thread records one CPU profile at a
time, for a bounded duration, and stops when its client disconnects.
Source: apiserver pkg/server/routes/profiling.go, net/http/pprof (1.36).
"""

import asyncio
import html
import sys
import threading

from sampan.server.profiling.cpu import sample_cpu
from sampan.server.profiling.memory import memory_profile
from sampan.server.profiling.profile import Profile
from sampan.server.profiling.stacks import stacks_profile, stacks_text
from sampan.server.request import Request, Response
from sampan.server.routes import Routes
from sampan.server.status import text_response

PREFIX = "/debug/pprof/"
SECONDS_DEFAULT = 30.0
SECONDS_MAX = 55.0
"""Maximum duration of a CPU profile. It is below the timeout of a request, which is a minute."""
_ABOUT = {
    "cmdline": "The command line of the process",
    "goroutine": "Stacks of all asyncio tasks and threads; debug=2 lists each of them",
    "heap": "Live objects: by their stacks where tracemalloc runs, else by their types",
    "profile": "CPU profile; seconds= sets the duration",
    "symbol": "No lookup is needed: profiles contain their symbols",
}


class Profiling:
    """Handlers of profiles. `install` adds them to the routes."""

    def __init__(self) -> None:
        self._busy = False

    def install(self, routes: Routes) -> None:
        """Add the paths below `PREFIX`. The server's index does not list them."""
        for path in (PREFIX.rstrip("/"), PREFIX):
            routes.add(path, self._root, listed=False)
        routes.add_prefix(PREFIX, self._handle)

    async def _root(self, request: Request) -> Response:
        if request.wire.path == PREFIX:
            return Response(200, _index().encode(), "text/html; charset=utf-8")
        return Response(302, content_type="", headers=[(b"Location", PREFIX.encode())])

    async def _handle(self, request: Request) -> Response:
        name = request.wire.path.removeprefix(PREFIX)
        if name == "profile":
            return await self._cpu(request)
        if name == "heap":
            return _response(request, name, await asyncio.to_thread(memory_profile))
        if name == "goroutine":
            if request.wire.param("debug") == "2":
                return text_response(200, stacks_text())
            return _response(request, name, stacks_profile())
        if name == "cmdline":
            return text_response(200, "\0".join(sys.orig_argv))
        if name == "symbol":
            return text_response(200, "num_symbols: 0\n")
        return _refusal(404, "Unknown profile")

    async def _cpu(self, request: Request) -> Response:
        seconds = _seconds(request)
        if seconds > SECONDS_MAX:
            return _refusal(400, "profile duration exceeds server's WriteTimeout")
        if self._busy:
            return _refusal(500, "Could not enable CPU profiling: cpu profiling already in use")
        self._busy = True
        stop = threading.Event()
        try:
            return _response(request, "profile", await asyncio.to_thread(sample_cpu, seconds, stop))
        finally:
            stop.set()
            self._busy = False


def _seconds(request: Request) -> float:
    """Return the duration of a profile. As in Go, the default applies unless it is a positive number."""
    try:
        seconds = float(request.wire.param("seconds"))
    except ValueError:
        return SECONDS_DEFAULT
    return seconds if seconds > 0 else SECONDS_DEFAULT


def _response(request: Request, name: str, profile: Profile) -> Response:
    if request.wire.param("debug") not in ("", "0"):
        return text_response(200, profile.text(name))
    response = Response(200, profile.encode(), "application/octet-stream")
    response.headers += [
        (b"X-Content-Type-Options", b"nosniff"),
        (b"Content-Disposition", f'attachment; filename="{name}"'.encode()),
    ]
    return response


def _refusal(status: int, text: str) -> Response:
    response = text_response(status, f"{text}\n")
    response.headers.append((b"X-Go-Pprof", b"1"))
    return response


def _index() -> str:
    rows = "".join(
        f'<tr><td><a href="{name}{"?debug=1" if name in ("heap", "goroutine") else ""}">{name}</a></td>'
        f"<td>{html.escape(about)}</td></tr>\n"
        for name, about in _ABOUT.items()
    )
    return f"<html><head><title>{PREFIX}</title></head><body>\n<table>\n{rows}</table>\n</body></html>\n"
