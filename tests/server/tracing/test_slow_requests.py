"""Log line with the steps of a slow request."""

import logging
from collections.abc import AsyncIterator
from time import monotonic

import pytest

from sampan.core.telemetry.tracing import STEPS_MAX, Span, current_span, part_of_current
from sampan.server.filters.steps import steps_hook
from sampan.server.request import Request, Response
from tests.server.cluster import served
from tests.server.frame import Frame, ok
from tests.server.requests import make_request

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


def requested(received: float = 0.0, *, long_running: bool = False) -> Request:
    async def read_body(limit: int) -> bytes:
        return b""

    return make_request("GET", "/x", "a=b", {}, read_body, received=received, long_running=long_running)


@pytest.mark.parametrize(("took_s", "long_running", "reported"), [(0.4, False, 0), (0.6, False, 1), (0.6, True, 0)])
def test_only_slow_requests_are_logged(
    took_s: float, long_running: bool, reported: int, caplog: pytest.LogCaptureFixture
) -> None:
    hook = steps_hook(lambda: 100.0 + took_s)
    assert hook.after is not None
    with caplog.at_level(logging.INFO, "sampan.trace"):
        hook.after(requested(100.0, long_running=long_running), Response())
    assert len(caplog.records) == reported


def test_each_step_is_logged_with_its_duration(caplog: pytest.LogCaptureFixture) -> None:
    hook = steps_hook(lambda: 101.0)
    request = requested(100.0)
    assert hook.after is not None
    with caplog.at_level(logging.INFO, "sampan.trace"):
        request.begin_span().steps += [(100.25, "Conversion done"), (100.95, "Create storage")]
        hook.after(request, Response(201))
    fields = caplog.records[0].__dict__
    assert fields["steps"] == "Conversion done 250ms; Create storage 700ms; END 50ms"
    assert (fields["total_ms"], fields["uri"], fields["code"]) == (1000.0, "/x?a=b", 201)


async def test_a_create_records_its_steps() -> None:
    spans: list[Span] = []

    async with served() as api:
        inner = api.server.handler

        async def handler(request: Request) -> Response:
            response = await inner(request)
            assert request.span is not None
            spans.append(request.span)
            return response

        api.client.handler = handler
        await api.create("/api/v1/namespaces/default/configmaps", CONFIG_MAP)
    assert [name for _, name in spans[0].steps] == [
        "limitedReadBody succeeded",
        "Conversion done",
        "Create storage",
        "Write to database call succeeded",
    ]
    assert current_span() is None


async def test_steps_of_an_open_stream_are_not_recorded() -> None:
    observed: list[Span | None] = []

    async def route(request: Request) -> Response:
        request.step("begun")
        observed.append(current_span())

        async def stream() -> AsyncIterator[bytes]:
            observed.append(current_span())
            yield b"x"

        return Response(stream=stream())

    response = await Frame(route).client().get("/version")
    assert response.stream is not None
    assert [chunk async for chunk in response.stream] == [b"x"]
    assert [span is None for span in observed] == [False, True]


def test_steps_are_bounded() -> None:
    span = Span(monotonic())
    for _ in range(STEPS_MAX + 10):
        span.step("again")
    assert len(span.steps) == STEPS_MAX


def test_parts_share_the_steps_of_the_whole() -> None:
    span = Span(monotonic())
    span.enter()
    with part_of_current("outer") as part:
        assert part is current_span() is not span
        assert part is not None
        part.step("inner")
    assert current_span() is span
    span.leave()
    assert [name for _, name in span.steps] == ["inner", "outer"]
    with part_of_current("nobody's") as part:
        assert part is None


async def test_a_request_leaves_no_span_behind() -> None:
    await Frame(ok).client().get("/version")
    assert current_span() is None
