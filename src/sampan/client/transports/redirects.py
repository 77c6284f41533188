"""Redirects: reads follow them on the same server; the caller gets all other redirects as responses.

Go's client follows more: it turns a redirected POST into a GET, and follows to other servers. But a redirected write
has not happened, so the response to a GET of the target is not its result. And credentials must be sent to one server
only. Kubernetes redirects no API request, but a gateway in front of it may.
"""

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.http.client.address import ServerAddress

REDIRECTS_MAX = 10
"""Maximum number of redirects that are followed, as in Go's net/http."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_READS = frozenset({"GET", "HEAD"})


class RedirectsTransport:
    """Follows redirects of GET and HEAD below `address`. Returns all other responses unchanged."""

    def __init__(self, inner: Transport, address: ServerAddress) -> None:
        self._inner = inner
        self._address = address

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and follow redirects, at most `REDIRECTS_MAX`. A further redirect is returned."""
        response = await self._inner.send(request)
        for _ in range(REDIRECTS_MAX):
            target = self._target(request, response)
            if target is None:
                break
            await response.aclose()
            request = replace(request, target=target)
            response = await self._inner.send(request)
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    def _target(self, request: HttpRequest, response: HttpResponse) -> str | None:
        """Return the target of the redirect; None if it must not be followed."""
        location = response.headers.get("location", "")
        if response.status not in _REDIRECTS or request.method not in _READS or not location:
            return None
        try:
            url = urljoin(f"{self._address}{request.target}", location)
            found = ServerAddress.parse(url)
        except ValueError:
            return None
        address = self._address
        same = (found.scheme, found.host, found.port) == (address.scheme, address.host, address.port)
        parts = urlsplit(url)
        if not same or not parts.path.startswith(f"{address.prefix}/"):
            return None
        target = parts.path.removeprefix(address.prefix)
        return f"{target}?{parts.query}" if parts.query else target
