"""The table of `sampan.client.retries.retry`, line by line, in virtual time."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.client.errors import CredentialError, TransportError, TransportTimeout
from sampan.client.retries.retry import RetryingTransport, RetryPolicy, retry_after_s
from sampan.client.transport import HttpRequest
from sampan.testing import elapsed, virtual_time
from tests.client.fakes import FakeResponse, FakeTransport

OK = FakeResponse(200)
UNSENT = TransportError("refused", sent=False)
BROKEN = TransportError("broken", sent=True)
TIMEOUT = TransportTimeout("late", sent=True)
NO_CREDENTIALS = CredentialError("gone")


def retry_after(status: int, wait_s: int = 1) -> FakeResponse:
    return FakeResponse(status, {"retry-after": str(wait_s)})


def request(method: str, *, stream: bool = False, timeout_s: float | None = None) -> HttpRequest:
    return HttpRequest(method, "/x", stream=stream, timeout_s=timeout_s)


def retrying(inner: FakeTransport, **policy: float) -> RetryingTransport:
    return RetryingTransport(inner, RetryPolicy(**policy), chance=lambda: 0.0)  # type: ignore[arg-type]


ALL, READS, NONE = ("GET", "POST", "PUT", "PATCH", "DELETE"), ("GET",), ()
TABLE = {
    "429 with Retry-After": (retry_after(429), ALL, True),
    "500 with Retry-After": (retry_after(500), ALL, True),
    "503 with Retry-After": (retry_after(503), ALL, True),
    "429 without": (FakeResponse(429), NONE, False),
    "500 without": (FakeResponse(500), NONE, False),
    "502 without": (FakeResponse(502), READS, False),
    "503 without": (FakeResponse(503), READS, False),
    "504 without": (FakeResponse(504), READS, False),
    "409 with Retry-After": (retry_after(409), NONE, False),
    "no connection": (UNSENT, ALL, False),
    "broken": (BROKEN, READS, False),
    "time-out": (TIMEOUT, NONE, False),
    "no credentials": (NO_CREDENTIALS, NONE, False),
}


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(("outcome", "methods", "streams"), TABLE.values(), ids=TABLE)
@virtual_time
async def test_requests_are_retried_by_method_and_outcome(
    method: str, outcome: FakeResponse | Exception, methods: tuple[str, ...], streams: bool
) -> None:
    for stream in (False, True):
        inner = FakeTransport([outcome, OK])
        again = method in methods and (streams or not stream)
        if isinstance(outcome, Exception) and not again:
            with pytest.raises(type(outcome), match=str(outcome)):
                await retrying(inner).send(request(method, stream=stream))
        else:
            response = await retrying(inner).send(request(method, stream=stream))
            assert response is (OK if again else outcome)
        assert len(inner.requested) == (2 if again else 1)


@virtual_time
async def test_the_wait_is_what_the_server_states() -> None:
    assert await elapsed(retrying(FakeTransport([retry_after(429, 7), OK])).send(request("POST"))) == 7


@virtual_time
async def test_waits_for_a_connection_double() -> None:
    inner = FakeTransport([UNSENT])
    with pytest.raises(TransportError):
        await retrying(inner).send(request("POST"))
    assert asyncio.get_running_loop().time() == pytest.approx(0.1 + 0.2 + 0.4)
    assert len(inner.requested) == 4


@virtual_time
async def test_the_last_response_is_returned_unread() -> None:
    last = retry_after(429)
    inner = FakeTransport([last])
    assert await retrying(inner, responses_max=2).send(request("GET")) is last
    assert len(inner.requested) == 3


@virtual_time
async def test_a_response_that_is_retried_is_closed() -> None:
    first = retry_after(429)
    await retrying(FakeTransport([first, OK])).send(request("GET"))
    assert first.closed


@virtual_time
async def test_a_wait_beyond_the_time_of_all_tries_is_left_to_the_caller() -> None:
    inner = FakeTransport([retry_after(503, 3600)])
    assert (await retrying(inner).send(request("GET"))).status == 503
    assert len(inner.requested) == 1


@virtual_time
async def test_the_time_of_a_request_bounds_its_tries_together() -> None:
    inner = FakeTransport([retry_after(429, 2)])
    assert (await retrying(inner).send(request("GET", timeout_s=5))).status == 429
    assert [requested.timeout_s for requested in inner.requested] == [5, 3, 1]


@virtual_time
async def test_a_cancelled_wait_ends() -> None:
    inner = FakeTransport([retry_after(429, 9)])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await retrying(inner).send(request("GET"))
    assert len(inner.requested) == 1


@virtual_time
async def test_nothing_is_sent_again_by_a_closed_transport() -> None:
    inner = FakeTransport([UNSENT])
    transport = retrying(inner)
    await transport.aclose()
    with pytest.raises(TransportError):
        await transport.send(request("GET"))
    assert len(inner.requested) == 1


@given(attempt=st.integers(1, 60), chance=st.floats(0, 1, exclude_max=True))
def test_waits_are_never_shorter_than_the_base_nor_longer_than_cap_and_jitter(attempt: int, chance: float) -> None:
    policy = RetryPolicy()
    assert policy.base_s <= policy.delay_s(attempt, chance) <= policy.cap_s * (1 + policy.jitter)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3),
        (" 0 ", 0),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_only_whole_seconds_are_understood(header: str, seconds: int | None) -> None:
    assert retry_after_s(FakeResponse(429, {"retry-after": header})) == seconds
