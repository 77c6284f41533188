"""Spans that reach a collector, which speaks OTLP over gRPC in this process."""

import asyncio
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from sampan.app.errors import StartError
from sampan.app.observability.observability import Observability
from sampan.app.observability.tracing import collector_of
from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster
from sampan.storage.memory import MemoryStore
from tests.server.frame import MASTER, Frame, ok

METHOD = "opentelemetry.proto.collector.trace.v1.TraceService"


class Receiver:
    """Collector on its own port."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self._server = grpc.server(futures.ThreadPoolExecutor(1))
        handler = grpc.unary_unary_rpc_method_handler(
            self._export,
            request_deserializer=ExportTraceServiceRequest.FromString,
            response_serializer=ExportTraceServiceResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(METHOD, {"Export": handler}),))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def _export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        self.requests.append(request)
        return ExportTraceServiceResponse()

    def stop(self) -> None:
        """End."""
        self._server.stop(0).wait()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


def configured(directory: Path, port: int, rate: int = 1_000_000) -> Path:
    file = directory / "tracing.yaml"
    file.write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
        f"endpoint: 127.0.0.1:{port}\nsamplingRatePerMillion: {rate}\n"
    )
    return file


async def test_spans_reach_the_collector(tmp_path: Path, receiver: Receiver) -> None:
    collector = collector_of(configured(tmp_path, receiver.port))
    assert collector is not None
    await Frame(ok, tracer=collector.tracer).client(MASTER).get("/version?a=b", audit_id="x-1")
    await asyncio.to_thread(collector.end)
    (spans,) = receiver.requests[0].resource_spans
    span = spans.scope_spans[0].spans[-1]
    reported = {attribute.key: attribute.value.string_value for attribute in span.attributes}
    assert (span.name, reported["http.target"], reported["audit-id"]) == ("GET", "/version?a=b", "x-1")
    assert "apiserver" in [attribute.value.string_value for attribute in spans.resource.attributes]


async def test_shutdown_exports_the_remaining_spans(tmp_path: Path, receiver: Receiver) -> None:
    settings = UpSettings(tracing_config_file=configured(tmp_path, receiver.port))
    observability = Observability(settings, Cluster(MemoryStore()))
    running = asyncio.create_task(observability.run())
    await asyncio.sleep(0)
    await Frame(ok, tracer=observability.tracer).client(MASTER).get("/version")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(receiver.requests) == 1


def test_without_a_file_no_spans_are_exported() -> None:
    assert collector_of(None) is None
    assert Observability(UpSettings(), Cluster(MemoryStore())).tracer is None


def test_an_invalid_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="failed to read tracing config"):
        collector_of(tmp_path / "none")
    with pytest.raises(StartError, match="failed to validate tracing configuration"):
        collector_of(configured(tmp_path, 1, -5))
