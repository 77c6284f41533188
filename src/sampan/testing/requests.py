"""Requests to a cluster of a test: the hook that each one passes, and the record of all.

An interceptor sees a request before the server does, and its response before the client does. It may change, delay or
refuse both, so faults can be injected in it:

    async def slow(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        await asyncio.sleep(5)
        return await proceed()

    cluster.interceptors.append(slow)
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, Self

import msgspec
from msgspec.structs import replace

from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.client.transports.warnings import parse_warnings
from sampan.server.request import Handler, Request, RequestInfo, Response
from sampan.server.request_info import TargetCache
from sampan.testing.checked_rights import Checked, rights_checked

WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
"""Verbs that may change an object."""


class ServerWarning(UserWarning):
    """The server warned an operator: of a deprecated version or an unknown field, for example."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request of one actor."""

    actor: str
    """Name of the client: `test`, a name given to `cluster.run`, or that of a built-in control loop."""
    number: int
    """Position among all requests of the cluster, from 1."""
    info: RequestInfo
    request: HttpRequest

    @property
    def is_write(self) -> bool:
        """True if the request may change an object."""
        return self.info.verb in WRITES


Proceed = Callable[[], Awaitable[HttpResponse]]
Interceptor = Callable[[SentRequest, Proceed], Awaitable[HttpResponse]]
"""Function between clients and the cluster. It returns a response, usually that of `proceed()`, or raises."""


class RequestRecord(msgspec.Struct, frozen=True, gc=False):
    """A request and its result."""

    actor: str
    number: int
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    at_s: float
    """Seconds since the epoch at which it was sent."""
    code: int = 0
    """Code of the response; 0: none arrived."""
    limited: bool = False
    """True if a list has a limit."""
    warnings: tuple[str, ...] = ()
    """Texts of the `Warning` headers of the response: deprecated versions, unknown fields and further warnings."""
    checked: tuple[Checked, ...] = ()
    """Rights that the server checked in this process: those of the verb, and others that it implies."""

    @property
    def is_write(self) -> bool:
        """True if the request may change an object."""
        return self.verb in WRITES

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}".strip("/")
        part = f"/{self.subresource}" if self.subresource else ""
        result = self.code or "no response"
        warned = "".join(f", warning: {each}" for each in self.warnings)
        return f"{self.actor}: {self.verb} {self.resource}{part} {place} -> {result}".replace("  ", " ") + warned


class Requests(Sequence[RequestRecord]):
    """Requests in the order in which they were sent. The filters return a part of them."""

    def __init__(self, records: Iterable[RequestRecord] = ()) -> None:
        self._records = list(records)

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as declared by `Sequence`
        return self._records[index]

    def __iter__(self) -> Iterator[RequestRecord]:
        return iter(self._records)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._records)) or "no requests"

    def by(self, actor: str) -> Self:
        """Return the requests that one client sent, such as a controller or the test."""
        return self._where(lambda each: each.actor == actor)

    def of(self, resource: str, name: str = "") -> Self:
        """Return the requests to a resource (`configmaps`), or to one of its objects."""
        return self._where(lambda each: each.resource == resource and (not name or each.name == name))

    def verb(self, *verbs: str) -> Self:
        """Return the requests with one of these verbs (`get`, `list`, `watch`, `create`, `update`, `patch`, …)."""
        return self._where(lambda each: each.verb in verbs)

    async def quiet(self, pause_s: float) -> None:
        """Wait until no request has been sent for so many seconds."""
        count = -1
        while count != len(self):
            count = len(self)
            await asyncio.sleep(pause_s)

    def after(self, number: int) -> Self:
        """Return the requests after the one with this number. `len(cluster.requests)` is the number of the last."""
        return self._where(lambda each: each.number > number)

    @property
    def writes(self) -> Self:
        """The requests that may have changed an object."""
        return self._where(lambda each: each.is_write)

    @property
    def refused(self) -> Self:
        """The requests with a response of 400 or more."""
        return self._where(lambda each: each.code >= 400)

    @property
    def warned(self) -> Self:
        """The requests whose response has warnings."""
        return self._where(lambda each: bool(each.warnings))

    @property
    def warnings(self) -> list[str]:
        """Texts of the warnings of all responses, each once."""
        return list(dict.fromkeys(text for each in self._records for text in each.warnings))

    def add(self, record: RequestRecord) -> None:
        """Append the record of a request in the order of arrival."""
        self._records.append(record)

    def put(self, record: RequestRecord) -> None:
        """Replace the record with the same number."""
        self._records[record.number - 1] = record

    def _where(self, holds: Callable[[RequestRecord], bool]) -> Self:
        return type(self)(filter(holds, self._records))


@dataclass(slots=True)
class InterceptorChain:
    """Hook and record of one cluster."""

    now: Callable[[], float]
    interceptors: list[Interceptor] = field(default_factory=list)
    """Outermost first."""
    requests: Requests = field(default_factory=Requests)
    rewrite: Callable[[SentRequest], HttpRequest] = attrgetter("request")
    """Function that returns the request to send instead."""
    _targets: TargetCache = field(default_factory=TargetCache)

    async def send(self, actor: str, request: HttpRequest, transport: Transport) -> HttpResponse:
        """Send a request through all interceptors. Raises what they raise, and `TransportError`."""
        target = self._targets.get(request.method, request.target.encode("latin-1"))
        info = target.info
        record = self._begun(actor, info, "limit" in target.query)
        sent = SentRequest(actor, record.number, info, request)

        async def proceed() -> HttpResponse:
            return await transport.send(self.rewrite(sent))

        chain: Proceed = proceed
        for interceptor in reversed(self.interceptors):
            chain = _through(interceptor, sent, chain)
        with rights_checked() as checked:
            response = await chain()
        warned = _warnings(response.headers.get("warning"))
        self.requests.put(replace(record, code=response.status, warnings=warned, checked=tuple(checked)))
        return response

    def recorded(self, actor: str, handler: Handler) -> Handler:
        """Return a handler of a server that records each request, of a program for example.

        Interceptors do not receive these requests.
        """

        async def handle(request: Request) -> Response:
            record = self._begun(actor, request.info, "limit" in request.wire.query)
            with rights_checked() as checked:
                response = await handler(request)
            headers = [value.decode() for name, value in response.headers if name.lower() == b"warning"]
            warnings = tuple(text for each in headers for text in _warnings(each))
            self.requests.put(replace(record, code=response.status, warnings=warnings, checked=tuple(checked)))
            return response

        return handle

    def _begun(self, actor: str, info: RequestInfo, limited: bool) -> RequestRecord:
        record = RequestRecord(
            actor,
            len(self.requests) + 1,
            info.verb,
            info.group,
            info.resource or info.path,
            info.subresource,
            info.namespace,
            info.name,
            self.now(),
            limited=limited,
        )
        self.requests.add(record)
        return record


def _warnings(header: str | None) -> tuple[str, ...]:
    return tuple(each.text for each in parse_warnings(header)) if header else ()


def _through(interceptor: Interceptor, sent: SentRequest, proceed: Proceed) -> Proceed:
    async def call() -> HttpResponse:
        return await interceptor(sent, proceed)

    return call
