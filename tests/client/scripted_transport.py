"""A transport that answers by a script, and a list-watch that does: to be misbehaved with."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from sampan.client import ListOptions, RawEvent, RawList
from sampan.client.transport import HttpRequest

Part = bytes | Exception | float
"""A part of a body: bytes that come, an error, or seconds of silence."""


@dataclass
class ScriptedResponse:
    """An `HttpResponse`; `closed` counts."""

    status: int = 200
    parts: Sequence[Part] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    closed: int = 0

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            if isinstance(part, float):
                await asyncio.sleep(part)
            else:
                yield part

    async def aclose(self) -> None:
        self.closed += 1


def reply(body: Any, status: int = 200, **headers: str) -> ScriptedResponse:
    """JSON in one piece."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ScriptedResponse(status, [body if isinstance(body, bytes) else msgspec.json.encode(body)], named)


@dataclass
class ScriptedTransport:
    """Answers each request by the next of the answers, or by a function of the request. Remembers the requests."""

    responses: list[ScriptedResponse | Exception] = field(default_factory=list)
    by: Callable[[HttpRequest], ScriptedResponse] | None = None
    requests: list[HttpRequest] = field(default_factory=list)
    closed: bool = False

    async def send(self, request: HttpRequest) -> ScriptedResponse:
        self.requests.append(request)
        if self.by is not None:
            return self.by(request)
        found = self.responses.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def aclose(self) -> None:
        self.closed = True

    @property
    def queries(self) -> list[dict[str, str]]:
        """The query parameters of each request."""
        return [dict(parse_qsl(urlsplit(request.target).query)) for request in self.requests]


Batch = Sequence[RawEvent] | Exception | float


@dataclass
class ScriptedListWatch:
    """Lists and watches by a script; each watch takes the next of `watches`; without one it hangs for ever."""

    lists: list[RawList | Exception] = field(default_factory=list)
    watches: list[Sequence[Batch] | Exception] = field(default_factory=list)
    listed: list[ListOptions] = field(default_factory=list)
    watched: list[ListOptions] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """The time at which each watch began."""

    async def list(self, options: ListOptions) -> RawList:
        self.listed.append(options)
        found = self.lists.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        self.watched.append(options)
        self.times.append(asyncio.get_running_loop().time())
        script = self.watches.pop(0) if self.watches else [float("1e9")]
        if isinstance(script, Exception):
            raise script
        for batch in script:
            if isinstance(batch, Exception):
                raise batch
            if isinstance(batch, float):
                await asyncio.sleep(batch)
            else:
                yield batch


def body(name: str, version: int | str, **more: Any) -> bytes:
    """The JSON of an object."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more})


def event(kind: str, name: str, version: int | str, **more: Any) -> RawEvent:
    """An event of a watch."""
    return RawEvent(kind, msgspec.Raw(body(name, version, **more)))


def error_event(code: int, reason: str = "", **more: Any) -> RawEvent:
    """An ERROR event."""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, **more}
    return RawEvent("ERROR", msgspec.Raw(msgspec.json.encode(status)))


def list_body(*items: bytes, version: int | str = 9, kind: str = "ConfigMapList", **metadata: Any) -> bytes:
    """The JSON of a list."""
    head = msgspec.json.encode({"resourceVersion": str(version), **metadata})
    return b'{"kind":"%s","apiVersion":"v1","metadata":%s,"items":[%s]}' % (kind.encode(), head, b",".join(items))


def lines(*events: RawEvent) -> bytes:
    """Events as they travel."""
    return b"".join(msgspec.json.encode(each) + b"\n" for each in events)
