"""The counts of a client's requests, and the metrics that an operator makes of them."""

import pytest
from prometheus_client import generate_latest

from sampan.client.client import Client
from sampan.client.config import Config
from sampan.client.errors import TransportError
from sampan.client.transport import HttpRequest
from sampan.client.transports.request_counts import CountingTransport, RequestCounts
from sampan.operator.manager import Manager
from tests.client.fakes import FakeResponse, FakeTransport


async def test_responses_and_failures_are_counted_by_code_and_method() -> None:
    counts = RequestCounts()
    transport = CountingTransport(
        FakeTransport([FakeResponse(404), TransportError("gone", sent=False), FakeResponse()]), counts
    )
    await transport.send(HttpRequest("GET", "/a"))
    with pytest.raises(TransportError):
        await transport.send(HttpRequest("POST", "/a"))
    await transport.send(HttpRequest("GET", "/a"))
    assert counts.requests == {("404", "GET"): 1, ("<error>", "POST"): 1, ("200", "GET"): 1}
    assert sum(counts.durations["GET"][1:]) == 2


async def test_managers_show_what_their_client_has_called() -> None:
    client = Client.from_config(Config(server="https://server:6443"))
    assert client.counts is not None
    client.counts.count("GET", "200", 0.3)
    text = generate_latest(Manager(client.with_defaults(namespace="a")).registry).decode()
    assert 'rest_client_requests_total{code="200",host="server:6443",method="GET"} 1.0' in text
    assert 'rest_client_request_duration_seconds_bucket{host="server:6443",le="0.25",verb="GET"} 0.0' in text
    assert 'rest_client_request_duration_seconds_bucket{host="server:6443",le="0.5",verb="GET"} 1.0' in text
    await client.rest.transport.aclose()
