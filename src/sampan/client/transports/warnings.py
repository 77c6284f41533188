"""`Warning` headers of responses: parser, handlers and transport. Source: client-go rest/warnings.go (1.36)."""

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.wire.http1 import values_of

_log = logging.getLogger("sampan.client")

_next_warning = re.compile(r'\s*,?\s*([0-9]{3}) (\S+) "((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?').match
_escaped = re.compile(r"\\(.)")
_KUBERNETES = 299
_REMEMBERED_MAX = 1000


@dataclass(frozen=True, slots=True)
class Warning:
    """Warning of a server: code (299 for Kubernetes), agent (mostly `-`) and text."""

    code: int
    agent: str
    text: str


WarningHandler = Callable[[Warning], None]
"""Handler that is called for each warning of each response. It must return quickly."""


def parse_warnings(header: str) -> Iterator[Warning]:
    """Yield the warnings of a `Warning` header, one for each line of the head. Malformed warnings are skipped."""
    for value in values_of(header):
        position = 0
        while found := _next_warning(value, position):
            yield Warning(int(found[1]), found[2], _escaped.sub(r"\1", found[3]))
            position = found.end()


def ignore_warnings(warning: Warning) -> None:
    """Handler for clients that neither log nor show the `Warning` headers of responses."""


class LogWarnings:
    """Handler that logs each text once. It stores up to 1,000 texts; then it clears them."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, warning: Warning) -> None:
        """Log the warning, unless its text has been logged or its code is not that of Kubernetes (299)."""
        if warning.code != _KUBERNETES or not warning.text or warning.text in self._seen:
            return
        if len(self._seen) >= _REMEMBERED_MAX:
            self._seen.clear()
        self._seen.add(warning.text)
        _log.warning("server sent a warning: %s", warning.text)


class WarningsTransport:
    """Passes the warnings of every response to a handler. Errors of the handler are logged."""

    def __init__(self, inner: Transport, handler: WarningHandler | None = None) -> None:
        self._inner = inner
        self._handler = handler or LogWarnings()

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and handle the warnings of its response."""
        response = await self._inner.send(request)
        header = response.headers.get("warning")
        if header:
            for warning in parse_warnings(header):
                try:
                    self._handler(warning)
                except Exception:
                    _log.exception("warning handler failed")
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
