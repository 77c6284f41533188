"""`SimulatedLogs`: the logs of Pods for the tests of the page, written by the test or at a rate."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sampan.server.request import Request, Response
from tests.dashboard.server import DashboardServer

_BEGIN: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_TURN_S: Final = 0.05


def pod(name: str, *containers: str, **labels: str) -> dict[str, Any]:
    """Return a Pod on a node that runs no Pods."""
    given = [{"name": each, "image": "registry.example/app:1"} for each in containers or ("main",)]
    return {"metadata": {"name": name, "labels": labels}, "spec": {"nodeName": "elsewhere", "containers": given}}


def stamp(number: int) -> str:
    """Return the time of a line: each is a millisecond after the one before."""
    at = _BEGIN + timedelta(milliseconds=number)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond * 1000:09d}Z"


@dataclass
class SimulatedLogs:
    """Answers for `pods/NAME/log`, by Pod and container."""

    server: DashboardServer
    lines: dict[tuple[str, str], list[bytes]] = field(default_factory=dict)
    """Lines with their times, without line breaks."""
    requests: list[dict[str, str]] = field(default_factory=list)
    """Parameters of the requests, with the name of the Pod."""
    rate: int = 0
    """Lines that each log gets in a second, without an end."""
    sent: int = 0
    cuts: int = 0
    open: int = 0
    """Number of logs that are followed now."""

    def write(self, name: str, *texts: str | bytes, container: str = "main", first: int = 0, step: int = 1) -> None:
        """Add lines to a log. Their times begin at `first`."""
        lines = self.lines.setdefault((name, container), [])
        self.serve(name)
        for i, text in enumerate(texts):
            raw = text.encode() if isinstance(text, str) else text
            lines.append(f"{stamp(first + i * step)} ".encode() + raw)

    def serve(self, name: str) -> None:
        """Answer for a Pod."""
        path = f"/api/v1/namespaces/default/pods/{name}/log"
        self.server.shell.replaced[path] = lambda request: self._response(name, request)

    def cut(self) -> None:
        """Interrupt the logs that are followed now."""
        self.cuts += 1

    def _response(self, name: str, request: Request) -> Response:
        given = {key: values[0] for key, values in request.wire.query.items()}
        self.requests.append({"pod": name, **given})
        return Response(200, content_type="text/plain", stream=self._stream(name, given))

    async def _stream(self, name: str, given: dict[str, str]) -> AsyncIterator[bytes]:
        lines = self.lines.get((name, given.get("container", "main")), [])
        timed = given.get("timestamps") == "true"
        at, cuts = 0, self.cuts
        self.open += 1
        try:
            while self.cuts == cuts:
                new, at = lines[at:], len(lines)
                if new:
                    yield b"".join((each if timed else each.partition(b" ")[2]) + b"\n" for each in new)
                if given.get("follow") != "true":
                    return
                if self.rate:
                    yield self._some(name)
                await asyncio.sleep(_TURN_S)
            raise ConnectionResetError("the test has cut the connection")
        finally:
            self.open -= 1

    def _some(self, name: str) -> bytes:
        count = int(self.rate * _TURN_S)
        now = datetime.now(UTC)
        self.sent += count
        times = (now + timedelta(microseconds=i) for i in range(count))
        return b"".join(
            f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}Z INFO {name} request {i} done in 12ms\n".encode()
            for i, at in enumerate(times)
        )
