"""What servers warn of: `Warning` headers, parsed and given to a handler. Source: client-go rest/warnings.go (1.36)."""

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
    """A warning: code (299 for Kubernetes), who warns (mostly `-`), and of what."""

    code: int
    agent: str
    text: str


WarningHandler = Callable[[Warning], None]
"""Called for each warning of each answer; must return soon."""


def parse_warnings(header: str) -> Iterator[Warning]:
    """The warnings of a `Warning` header; one for each line of the head. What is garbled is left out."""
    for value in values_of(header):
        position = 0
        while found := _next_warning(value, position):
            yield Warning(int(found[1]), found[2], _escaped.sub(r"\1", found[3]))
            position = found.end()


def ignore_warnings(warning: Warning) -> None:
    """A handler that does nothing."""


class LogWarnings:
    """A handler that logs each text once. It remembers 1,000 texts, then it forgets them all and begins anew."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, warning: Warning) -> None:
        """Log the warning, unless it has been logged or is not one of Kubernetes' own (code 299)."""
        if warning.code != _KUBERNETES or not warning.text or warning.text in self._seen:
            return
        if len(self._seen) >= _REMEMBERED_MAX:
            self._seen.clear()
        self._seen.add(warning.text)
        _log.warning("the server warns: %s", warning.text)


class WarningsTransport:
    """Hands the warnings of every answer to a handler. What the handler raises is logged; the answer is not harmed."""

    def __init__(self, inner: Transport, handler: WarningHandler | None = None) -> None:
        self._inner = inner
        self._handler = handler or LogWarnings()

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send, and look at the answer's head."""
        response = await self._inner.send(request)
        header = response.headers.get("warning")
        if header:
            for warning in parse_warnings(header):
                try:
                    self._handler(warning)
                except Exception:
                    _log.exception("the handler of warnings failed")
        return response

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()
