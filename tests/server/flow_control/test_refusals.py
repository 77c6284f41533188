"""Responses to refused requests, and the two limits without priority and fairness."""

import asyncio
from collections.abc import AsyncIterator
from copy import copy

import pytest

from sampan.server.authorization.masters import MASTERS
from sampan.server.flow_control.dropped_requests import DroppedRequests
from sampan.server.flow_control.max_in_flight import with_max_in_flight
from sampan.server.flow_control.writing import WRITTEN_AT_ONCE_BYTES
from sampan.server.request import Request, Response, UserInfo
from sampan.server.request_info import parse_target
from tests.server.client import header
from tests.server.flow_control.sets import Clock
from tests.server.requests import make_request

POD = "/api/v1/namespaces/a/pods/p"


def request(method: str, target: str = POD, *groups: str) -> Request:
    async def read_body(limit: int) -> bytes:
        return b""

    parsed = parse_target(method, target.encode())
    user = UserInfo("jane", groups=groups)
    return make_request(
        method, parsed.path, "", {}, read_body, parsed.query, parsed.info, user=user, long_running=parsed.long_running
    )


async def no_chunks() -> AsyncIterator[bytes]:
    for chunk in tuple[bytes, ...]():
        yield chunk


class Limited:
    """One reading and one changing request at a time; none is answered before `release`."""

    def __init__(self, reading: int = 1, changing: int = 1, made: Response | None = None) -> None:
        self.release = asyncio.Event()
        self._made = made or Response()
        self.handler = with_max_in_flight(reading, changing)(self._route)

    async def _route(self, requested: Request) -> Response:
        await self.release.wait()
        return copy(self._made)

    async def statuses(self, *requested: Request) -> list[int]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._fetch(one)) for one in requested]
            await asyncio.sleep(0)
            self.release.set()
        return [task.result().status for task in tasks]

    async def _fetch(self, requested: Request) -> Response:
        return await self.handler(requested)


@pytest.mark.parametrize(
    ("requested", "statuses"),
    [
        ([request("GET"), request("GET")], [200, 429]),
        ([request("PUT"), request("PUT")], [200, 429]),
        ([request("GET"), request("PUT")], [200, 200]),
        ([request("GET"), request("GET", POD, MASTERS)], [200, 200]),
        ([request("GET"), request("GET", "/api/v1/pods?watch=1")], [200, 200]),
    ],
    ids=["reads", "writes", "each its own", "administrators", "streams"],
)
async def test_beyond_the_limit_requests_are_refused(requested: list[Request], statuses: list[int]) -> None:
    assert await Limited().statuses(*requested) == statuses


async def test_zero_is_no_limit() -> None:
    assert await Limited(reading=0).statuses(request("GET"), request("GET")) == [200, 200]


async def test_a_seat_is_free_again_after_the_response() -> None:
    limited = Limited()
    limited.release.set()
    assert [(await limited.handler(request("GET"))).status for _ in range(2)] == [200, 200]


async def unread(limited: "Limited") -> tuple[Request, Response]:
    """Return a request whose large response is not written yet."""
    requested = request("GET")
    limited.release.set()
    return requested, await limited.handler(requested)


@pytest.mark.parametrize(
    "made",
    [Response(200, b"a" * (WRITTEN_AT_ONCE_BYTES + 1)), Response(200, rest=(b"a",)), Response(200, stream=no_chunks())],
    ids=["large", "in parts", "stream"],
)
async def test_a_request_keeps_its_seat_until_its_response_is_written(made: Response) -> None:
    limited = Limited(made=made)
    _, response = await unread(limited)
    assert (await limited.handler(request("GET"))).status == 429
    assert response.finished is not None
    response.finished()
    assert (await limited.handler(request("GET"))).status == 200


async def test_a_request_at_the_limit_takes_the_seat_of_a_client_that_does_not_read() -> None:
    limited = Limited(made=Response(200, rest=(b"a",)))
    requested, response = await unread(limited)
    assert requested.seat is not None
    requested.seat.stall()
    assert (await limited.handler(request("GET"))).status == 200
    assert (await limited.handler(request("GET"))).status == 429
    assert response.finished is not None


async def test_a_client_that_reads_again_keeps_its_seat() -> None:
    limited = Limited(made=Response(200, rest=(b"a",)))
    requested, _ = await unread(limited)
    assert requested.seat is not None
    requested.seat.stall()
    requested.seat.resume()
    assert (await limited.handler(request("GET"))).status == 429


async def test_a_refusal_has_retry_after() -> None:
    limited = Limited()
    first = asyncio.create_task(limited._fetch(request("GET")))
    await asyncio.sleep(0)
    response = await limited.handler(request("GET"))
    assert response.body == b"Too many requests, please try again later.\n"
    assert header(response, "Retry-After") == "1"
    limited.release.set()
    await first


def test_retry_after_grows_with_the_rate_of_refusals() -> None:
    clock = Clock()
    dropped = DroppedRequests(clock)
    waits = []
    for _ in range(30):
        waits += [dropped.record("level") for _ in range(100)]
        clock.advance(1)
    assert waits[0] == 1
    assert waits[-1] >= 16
    assert max(waits) <= 32


def test_retry_after_shrinks_when_refusals_are_rare() -> None:
    clock = Clock()
    dropped = DroppedRequests(clock)
    for _ in range(10):
        for _ in range(100):
            dropped.record("level")
        clock.advance(1)
    long = dropped.record("level")
    for _ in range(60):
        clock.advance(5)
        last = dropped.record("level")
    assert last < long
    assert last == 1
