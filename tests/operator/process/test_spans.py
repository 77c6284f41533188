"""OpenTelemetry spans of reconciles, and of the requests that they send."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sampan.client.client import Client
from sampan.client.transport import HttpRequest
from sampan.operator import Builder, Manager, ManagerOptions, Request
from sampan.operator.process.spans import OtelTracer
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.time.virtual_time import settle
from tests.client.scripted_transport import ScriptedTransport, reply
from tests.operator.cluster import CONFIG_MAPS, SECRETS
from tests.operator.manager.frame import running
from tests.server.cluster import served
from tests.server.frame import MASTER

BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box", "namespace": "default"}}


class Traced:
    """Operator that copies each ConfigMap to a Secret, once, with spans."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.sent: list[tuple[str, str]] = []
        self.failing = False

    def spans(self, name: str) -> Sequence[ReadableSpan]:
        return [each for each in self.exporter.get_finished_spans() if each.name.startswith(name)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Client]:
        async with served() as api, Client(InProcessTransport(api.server.handler, headers=MASTER)) as client:
            manager = Manager(client, ManagerOptions(tracer=OtelTracer(self.provider)))
            Builder(manager).for_(CONFIG_MAPS).named("boxes").complete(self._reconcile(manager))
            async with running(manager):
                yield client

    def _reconcile(self, manager: Manager):  # type: ignore[no-untyped-def]
        secrets = manager.client.resource(SECRETS, namespace="default")

        async def reconcile(request: Request) -> None:
            if request.name != "box":
                return
            if self.failing:
                raise ValueError("sunk")
            with trace.get_tracer("author", tracer_provider=self.provider).start_as_current_span("copy"):
                await secrets.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": request.name}})

        return reconcile


async def test_a_reconcile_and_its_requests_are_one_trace() -> None:
    traced = Traced()
    async with traced.running() as client:
        await client.resource(CONFIG_MAPS).create(dict(BOX))
        await settle()
    [reconcile] = [each for each in traced.spans("reconcile boxes") if each.attributes["k8s.object.name"] == "box"]  # type: ignore[index]
    [copy] = traced.spans("copy")
    [request] = traced.spans("POST /api/v1/namespaces/default/secrets")
    assert (copy.parent, request.parent) == (reconcile.context, copy.context)
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 201
    assert not traced.spans("GET")  # lists and watches of informers belong to no reconcile


async def test_a_failure_is_recorded() -> None:
    traced = Traced()
    traced.failing = True
    async with traced.running() as client:
        await client.resource(CONFIG_MAPS).create(dict(BOX))
        await settle()
    failed = [each for each in traced.spans("reconcile boxes") if each.events]
    assert failed[0].events[0].attributes is not None
    assert failed[0].events[0].attributes["exception.message"] == "sunk"
    assert not failed[0].status.is_ok


@pytest.mark.parametrize("traced", [True, False])
async def test_only_requests_within_a_span_carry_the_trace(*, traced: bool) -> None:
    inner = ScriptedTransport([reply({})])
    provider = TracerProvider()
    transport = OtelTracer(provider).transport(inner)
    if traced:
        with provider.get_tracer("x").start_as_current_span("outer") as outer:
            await transport.send(HttpRequest("GET", "/api"))
        assert f"{outer.get_span_context().trace_id:032x}" in inner.requests[0].headers["traceparent"]
    else:
        await transport.send(HttpRequest("GET", "/api"))
        assert "traceparent" not in inner.requests[0].headers
