"""The spans of requests, as a collector gets them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import StatusCode

from sampan.core.telemetry.tracing import trace_headers
from sampan.registry.webhook.client import WebhookCall
from sampan.registry.webhook.credentials import NO_CREDENTIALS
from sampan.registry.webhook.target import WebhookTarget
from sampan.server.proxy.headers import forwarded
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from sampan.server.tracing.tracer import RequestTracer
from tests.server.cluster import Api, served
from tests.server.frame import JANE, MASTER, Frame

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, NOT_SAMPLED = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"
TARGET = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


FILTERS = ("constrainedimpersonation", "priorityandfairness", "authorization")
"""The spans of the filters, outermost first."""


class Collector:
    """Keeps the spans of a tracer that samples this part of all requests."""

    def __init__(self, rate: float = 1.0) -> None:
        self._memory = InMemorySpanExporter()
        provider = TracerProvider(sampler=ParentBased(TraceIdRatioBased(rate)), shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._memory))
        self.tracer = RequestTracer(provider)

    def spans(self) -> dict[str, ReadableSpan]:
        """Those that have ended, by name."""
        return {span.name: span for span in self._memory.get_finished_spans()}


@asynccontextmanager
async def traced(collector: Collector) -> AsyncIterator[Api]:
    async with served(tracer=collector.tracer) as api:
        yield api


def ids(span: ReadableSpan) -> tuple[str, str]:
    """The trace, and the parent."""
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}" if span.parent is not None else ""


async def test_a_create_has_spans_for_its_parts() -> None:
    collector = Collector()
    async with traced(collector) as api:
        response = await api.fetch("POST", TARGET, CONFIG_MAP, accept="application/yaml", audit_id="x-1")
    spans = collector.spans()
    root = spans["POST /api/v1/namespaces/{:namespace}/configmaps"]
    create = spans["Create"]
    assert root.attributes is not None
    assert root.attributes["audit-id"] == "x-1"
    assert root.attributes["http.response.status_code"] == 201
    assert root.attributes["url.path"] == TARGET
    assert create.attributes is not None
    assert (create.attributes["verb"], create.attributes["scope"]) == ("POST", "resource")
    outer = root
    for name in FILTERS:
        assert spans[name].parent == outer.context
        outer = spans[name]
    assert create.parent == outer.context
    assert root.attributes["http.response.body.size"] == len(response.body)
    assert spans["Create storage"].parent == create.context
    assert spans["SerializeObject"].parent == create.context
    assert {event.name for event in create.events or ()} >= {"Conversion done", "Write to database call succeeded"}
    assert root.start_time is not None
    assert create.start_time is not None
    assert root.end_time is not None
    assert create.end_time is not None
    assert root.start_time <= create.start_time <= create.end_time <= root.end_time


async def test_the_trace_of_a_trusted_client_is_continued() -> None:
    collector = Collector(rate=0)
    async with traced(collector) as api:
        await api.get(TARGET, traceparent=SAMPLED)
    assert ids(collector.spans()["GET /api/v1/namespaces/{:namespace}/configmaps"]) == (TRACE, PARENT)


async def test_other_clients_start_a_new_trace_with_a_link() -> None:
    collector = Collector()
    async with traced(collector) as api:
        await Api(api.server, JANE).get(TARGET, traceparent=SAMPLED)
    span = collector.spans()["GET /api/v1/namespaces/{:namespace}/configmaps"]
    assert ids(span)[0] != TRACE
    assert [f"{link.context.trace_id:032x}" for link in span.links] == [TRACE]
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 403


@pytest.mark.parametrize("headers", [{}, {"traceparent": NOT_SAMPLED}, {"traceparent": "junk"}])
async def test_spans_that_are_not_sampled_are_not_exported(headers: dict[str, str]) -> None:
    collector = Collector(rate=0)
    async with traced(collector) as api:
        await api.fetch("GET", TARGET, **headers)
    assert collector.spans() == {}


async def test_the_span_of_a_watch_ends_with_it() -> None:
    collector = Collector()
    async with traced(collector) as api:
        async with api.watch(f"{TARGET}?watch=1"):
            assert set(collector.spans()) == {"Watch", *FILTERS}
        assert "GET /api/v1/namespaces/{:namespace}/configmaps" in collector.spans()


async def test_faults_end_spans_too() -> None:
    async def route(request: Request) -> Response:
        raise KeyError

    collector = Collector()
    await Frame(route, tracer=collector.tracer).client(MASTER).get("/version")
    span = collector.spans()["GET"]
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 500
    assert span.status.status_code is StatusCode.ERROR


async def test_the_trace_is_propagated_to_other_servers() -> None:
    reported: list[dict[str, str]] = []

    async def route(request: Request) -> Response:
        reported.append(trace_headers())
        return Response()

    client = Frame(route, tracer=Collector().tracer).client(MASTER)
    await client.get("/version", traceparent=SAMPLED)
    await client.get("/version", traceparent=NOT_SAMPLED)
    await Frame(route).client(MASTER).get("/version", traceparent=SAMPLED)
    assert reported[0]["traceparent"].startswith(f"00-{TRACE}-")
    assert PARENT not in reported[0]["traceparent"]
    assert reported[1]["traceparent"].startswith(f"00-{TRACE}-")
    assert reported[1]["traceparent"].endswith("-00")
    assert reported[2] == {}


async def test_webhooks_get_the_header() -> None:
    heads: list[bytes] = []

    async def route(request: Request) -> Response:
        target = WebhookTarget("127.0.0.1", 1, "/")
        heads.append(WebhookCall(target, "POST", b"{}", "timeout=1s").head(NO_CREDENTIALS, target))
        return Response()

    await Frame(route, tracer=Collector().tracer).client(MASTER).get("/version", traceparent=SAMPLED)
    assert f"\r\ntraceparent: 00-{TRACE}-".encode() in heads[0]
    assert heads[0].endswith(b"\r\n\r\n")


async def test_upstreams_get_the_header_instead_of_the_clients() -> None:
    sent: list[dict[str, str]] = []

    async def route(request: Request) -> Response:
        sent.append(forwarded(request, ProxyTarget("127.0.0.1", 1, "/")))
        return Response()

    await Frame(route, tracer=Collector().tracer).client(MASTER).get("/version", traceparent=SAMPLED)
    await Frame(route).client(MASTER).get("/version", traceparent=SAMPLED)
    assert sent[0]["traceparent"].startswith(f"00-{TRACE}-")
    assert PARENT not in sent[0]["traceparent"]
    assert sent[1]["traceparent"] == SAMPLED


async def test_requests_at_once_do_not_mix_their_spans() -> None:
    collector = Collector()
    async with traced(collector) as api:
        objects = [{**CONFIG_MAP, "metadata": {"name": f"a{index}"}} for index in range(10)]
        await asyncio.gather(*(api.create(TARGET, each) for each in objects))
    finished = collector._memory.get_finished_spans()
    creates = {span.context.span_id for span in finished if span.name == "Create" and span.context is not None}
    parents = [span.parent.span_id for span in finished if span.name == "Create storage" and span.parent is not None]
    assert len(creates) == 10
    assert sorted(parents) == sorted(creates)
