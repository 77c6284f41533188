"""Transports and answers made up by tests."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from sampan.client.transport import HttpRequest, HttpResponse


@dataclass
class FakeResponse:
    """An answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    closed: bool = False

    async def read(self) -> bytes:
        return self.body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self.body

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class FakeTransport:
    """Gives the outcomes one after the other, the last one again and again; notes each request."""

    outcomes: list[HttpResponse | Exception | Callable[[HttpRequest], HttpResponse]]
    requested: list[HttpRequest] = field(default_factory=list)
    closed: bool = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requested.append(request)
        outcome = self.outcomes[0] if len(self.outcomes) == 1 else self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome(request) if callable(outcome) else outcome

    async def aclose(self) -> None:
        self.closed = True
