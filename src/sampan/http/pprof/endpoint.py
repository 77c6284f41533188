"""`ProfileEndpoint`: the responses below /debug/pprof, for any HTTP server.

Nothing is measured before a request. A thread records one CPU profile at a time, for a bounded duration, and stops when
the caller is cancelled. The caller authorizes the request.
Source: apiserver pkg/server/routes/profiling.go, net/http/pprof (1.36).
"""

import asyncio
import html
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.http.pprof.cpu import sample_cpu
from sampan.http.pprof.memory import memory_profile
from sampan.http.pprof.profile import Profile
from sampan.http.pprof.stacks import stacks_profile, stacks_text

PREFIX: Final = "/debug/pprof/"
SECONDS_DEFAULT: Final = 30.0
SECONDS_MAX: Final = 55.0
"""Maximum duration of a CPU profile. It is below the timeout of a request, which is a minute."""
_TEXT: Final = "text/plain; charset=utf-8"
_NOSNIFF: Final = {"x-content-type-options": "nosniff"}
_ABOUT: Final = {
    "cmdline": "The command line of the process",
    "goroutine": "Stacks of all asyncio tasks and threads; debug=2 lists each of them",
    "heap": "Live objects: by their stacks where tracemalloc runs, else by their types",
    "profile": "CPU profile; seconds= sets the duration",
    "symbol": "No lookup is needed: profiles contain their symbols",
}
Parameter = Callable[[str], str]
"""Function that returns a query parameter; empty if the request has none of this name."""


@dataclass(frozen=True, slots=True)
class ProfileResponse:
    """Response with its whole body."""

    code: int
    body: bytes
    media_type: str = _TEXT
    headers: Mapping[str, str] = field(default_factory=dict)


class ProfileEndpoint:
    """Responds to requests below `PREFIX`."""

    def __init__(self) -> None:
        self._busy = False

    async def respond(self, path: str, parameter: Parameter) -> ProfileResponse:
        """Return the response for a path, `/debug/pprof` included."""
        if path == PREFIX:
            return ProfileResponse(200, _index().encode(), "text/html; charset=utf-8")
        if path == PREFIX.rstrip("/"):
            return ProfileResponse(302, b"", "", {"location": PREFIX})
        name = path.removeprefix(PREFIX)
        if name == "profile":
            return await self._cpu(parameter)
        if name == "heap":
            return _response(parameter, name, await asyncio.to_thread(memory_profile))
        if name == "goroutine":
            if parameter("debug") == "2":
                return _text(200, stacks_text())
            return _response(parameter, name, stacks_profile())
        if name == "cmdline":
            return _text(200, "\0".join(sys.orig_argv))
        if name == "symbol":
            return _text(200, "num_symbols: 0\n")
        return _refusal(404, "Unknown profile")

    async def _cpu(self, parameter: Parameter) -> ProfileResponse:
        seconds = _seconds(parameter("seconds"))
        if seconds > SECONDS_MAX:
            return _refusal(400, "profile duration exceeds server's WriteTimeout")
        if self._busy:
            return _refusal(500, "Could not enable CPU profiling: cpu profiling already in use")
        self._busy = True
        stop = threading.Event()
        try:
            return _response(parameter, "profile", await asyncio.to_thread(sample_cpu, seconds, stop))
        finally:
            stop.set()
            self._busy = False


def _seconds(text: str) -> float:
    """Return the duration of a profile. As in Go, the default applies unless it is a positive number."""
    try:
        seconds = float(text)
    except ValueError:
        return SECONDS_DEFAULT
    return seconds if seconds > 0 else SECONDS_DEFAULT


def _response(parameter: Parameter, name: str, profile: Profile) -> ProfileResponse:
    if parameter("debug") not in ("", "0"):
        return _text(200, profile.text(name))
    headers = {**_NOSNIFF, "content-disposition": f'attachment; filename="{name}"'}
    return ProfileResponse(200, profile.encode(), "application/octet-stream", headers)


def _text(code: int, text: str) -> ProfileResponse:
    return ProfileResponse(code, text.encode(), headers=_NOSNIFF)


def _refusal(code: int, text: str) -> ProfileResponse:
    return ProfileResponse(code, f"{text}\n".encode(), headers={**_NOSNIFF, "x-go-pprof": "1"})


def _index() -> str:
    rows = "".join(
        f'<tr><td><a href="{name}{"?debug=1" if name in ("heap", "goroutine") else ""}">{name}</a></td>'
        f"<td>{html.escape(about)}</td></tr>\n"
        for name, about in _ABOUT.items()
    )
    return f"<html><head><title>{PREFIX}</title></head><body>\n<table>\n{rows}</table>\n</body></html>\n"
