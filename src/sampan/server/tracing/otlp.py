"""Export of spans with OTLP over gRPC. Needs the extra `tracing`.

Concurrency: the SDK sends in its own thread. Its queue has room for 2048 spans; further spans are dropped.
Source: apiserver pkg/server/options/tracing.go, component-base tracing/utils.go (1.36).
"""

import uuid

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from sampan.server.tracing.configuration import TracingConfiguration
from sampan.server.tracing.tracer import RequestTracer

_MILLION = 1_000_000
_TIMEOUT_S = 5


class OtlpCollector:
    """Exports the spans of sampled requests until `end` is called."""

    def __init__(self, configuration: TracingConfiguration) -> None:
        self._provider = _provider(configuration)
        self.tracer = RequestTracer(self._provider)

    def end(self) -> None:
        """Export the remaining spans. Blocks for some seconds if the collector does not respond."""
        self._provider.shutdown()


def _provider(configuration: TracingConfiguration) -> TracerProvider:
    resource = Resource.create({"service.name": "apiserver", "service.instance.id": f"apiserver-{uuid.uuid4()}"})
    sampler = ParentBased(TraceIdRatioBased(configuration.sampling_rate_per_million / _MILLION))
    provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=configuration.endpoint, insecure=True, timeout=_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
