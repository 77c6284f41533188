"""Parts of a trial about one request: a body that stops, and the identity of its object."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson

from sampan.client.transport import Headers, HttpResponse
from sampan.testing.requests import SentRequest


class Held:
    """Response whose body stops while a state is hidden."""

    def __init__(self, inner: HttpResponse, shown: asyncio.Event) -> None:
        self._inner, self._shown = inner, shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner.chunks():
            await self._shown.wait()
            yield chunk


class ServerFailure:
    """Response with an error of the server."""

    headers: Headers = {"content-type": "application/json"}

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status, self._reason, self._message = status, reason, message

    async def read(self) -> bytes:
        """Return the Status."""
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": self.status}
        return orjson.dumps({**status, "reason": self._reason, "message": self._message})

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the error."""
        yield await self.read()

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


def no_streams() -> ServerFailure:
    """Return the response of a server without streaming lists to a request for one.

    A server with streaming lists begins with the newest state, so it cannot give an old view to an operator that
    starts.
    """
    message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    return ServerFailure(422, "Invalid", message)


def starts_a_stream(sent: SentRequest) -> bool:
    """Return True for a watch that begins with the present objects."""
    return sent.info.verb == "watch" and "sendInitialEvents=true" in sent.request.target


def may_be_old(sent: SentRequest) -> bool:
    """Return True for a read that a server serves from its cache. A get and a list without a version are live."""
    return sent.info.verb == "watch" or (sent.info.verb == "list" and "resourceVersion=" in sent.request.target)


def resource_of(sent: SentRequest) -> str:
    """Return the resource with its subresource."""
    info = sent.info
    return f"{info.resource}/{info.subresource}" if info.subresource else info.resource


def name_in(body: bytes) -> str:
    """Return the name of an object to create, without the generated part."""
    try:
        metadata = orjson.loads(body)["metadata"]
        return str(metadata.get("name") or metadata.get("generateName") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
