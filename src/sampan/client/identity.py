"""Identity of the client: user agent and impersonation."""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from sampan import __version__
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.wire.http1 import Repeated

_TOKEN = "!#$&'*+-.^_`|~"
"""Characters that a header's name may contain besides letters and digits. `%` is escaped too.

Source: RFC 9110, section 5.6.2.
"""


def default_user_agent() -> str:
    """Return `program/version (system/machine) sampan`. Servers use the part before the slash as default field manager.

    Source: client-go rest/config.go (1.36).
    """
    return user_agent(os.path.basename(sys.argv[0] if sys.argv else "") or "sampan")


def user_agent(program: str) -> str:
    """Return the user agent of a program of this version."""
    return f"{program}/{__version__} ({sys.platform}/{platform.machine()}) sampan"


@dataclass(frozen=True, slots=True)
class Impersonation:
    """User to impersonate. An empty user means no impersonation."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def headers(self) -> dict[str, str]:
        """Return the header fields. Source: client-go transport/round_trippers.go (1.36)."""
        if not self.user:
            return {}
        headers = {"impersonate-user": self.user}
        if self.uid:
            headers["impersonate-uid"] = self.uid
        if self.groups:
            headers["impersonate-group"] = Repeated.of(self.groups)
        for key, values in self.extra.items():
            if values:
                headers[f"impersonate-extra-{quote(key, safe=_TOKEN).lower()}"] = Repeated.of(values)
        return headers


class IdentityTransport:
    """Adds user agent and impersonation to requests that do not set these headers."""

    def __init__(self, inner: Transport, *, user_agent: str = "", impersonation: Impersonation | None = None) -> None:
        self._inner = inner
        self._user_agent = user_agent or default_user_agent()
        self._impersonation = (impersonation or Impersonation()).headers()

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request with the headers."""
        headers = {"user-agent": self._user_agent}
        if "impersonate-user" not in request.headers:
            headers |= self._impersonation
        return await self._inner.send(replace(request, headers={**headers, **request.headers}))

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
