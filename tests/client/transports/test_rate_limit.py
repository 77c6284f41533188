"""The rate at which a client sends requests."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.client.transport import HttpRequest, HttpResponse
from sampan.client.transports.rate_limit import RateLimit, RateLimitingTransport
from sampan.testing import run_virtual, virtual_time
from tests.client.fakes import FakeResponse, FakeTransport
from tests.properties import examples


class Times:
    """A server that notes the time and the target of each request."""

    def __init__(self) -> None:
        self.requested: list[tuple[float, str]] = []
        self.inner = FakeTransport([self.note])

    def note(self, request: HttpRequest) -> HttpResponse:
        self.requested.append((asyncio.get_running_loop().time(), request.target))
        return FakeResponse()


@virtual_time
async def test_a_burst_goes_at_once_and_the_rest_in_order_at_the_rate() -> None:
    server = Times()
    transport = RateLimitingTransport(server.inner, RateLimit(10, burst=3))
    await asyncio.gather(*(transport.send(HttpRequest("GET", f"/{number}")) for number in range(6)))
    assert [target for _, target in server.requested] == [f"/{number}" for number in range(6)]
    assert [time for time, _ in server.requested] == pytest.approx([0, 0, 0, 0.1, 0.2, 0.3])


@virtual_time
async def test_a_rest_gives_the_burst_back_and_no_more() -> None:
    server = Times()
    transport = RateLimitingTransport(server.inner, RateLimit(10, burst=2))
    for pause in (0, 0, 100, 0, 0):
        await asyncio.sleep(pause)
        await transport.send(HttpRequest("GET", "/"))
    assert [time for time, _ in server.requested] == pytest.approx([0, 0, 100, 100, 100.1])


@given(
    per_s=st.sampled_from([0.5, 3.0, 20.0]),
    burst=st.integers(1, 5),
    pauses=st.lists(st.floats(0, 1), min_size=1, max_size=30),
)
@settings(max_examples=examples(40))
def test_no_span_of_time_sees_more_than_burst_and_rate_allow(per_s: float, burst: int, pauses: list[float]) -> None:
    async def scenario() -> list[float]:
        server = Times()
        transport = RateLimitingTransport(server.inner, RateLimit(per_s, burst))
        async with asyncio.TaskGroup() as group:
            for pause in pauses:
                await asyncio.sleep(pause)
                group.create_task(transport.send(HttpRequest("GET", "/")))
        return [time for time, _ in server.requested]

    times = run_virtual(scenario())
    for i, begin in enumerate(times):
        for j in range(i, len(times)):
            assert j - i + 1 <= burst + (times[j] - begin) * per_s + 1e-6


@pytest.mark.parametrize(("per_s", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_limit_that_lets_nothing_through_is_refused(per_s: float, burst: int) -> None:
    with pytest.raises(ValueError):
        RateLimit(per_s, burst)
