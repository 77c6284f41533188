"""Spans for a collector that speaks OTLP over gRPC. Needs the extra `tracing`.

Concurrency: the SDK sends from a thread of its own; its queue holds 2048 spans, those beyond are dropped.
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
    """Sends the spans of sampled requests until its end."""

    def __init__(self, configuration: TracingConfiguration) -> None:
        self._provider = _provider(configuration)
        self.tracer = RequestTracer(self._provider)

    def end(self) -> None:
        """Send what is left. Waits, some seconds where nobody listens."""
        self._provider.shutdown()


def _provider(configuration: TracingConfiguration) -> TracerProvider:
    resource = Resource.create({"service.name": "apiserver", "service.instance.id": f"apiserver-{uuid.uuid4()}"})
    sampler = ParentBased(TraceIdRatioBased(configuration.sampling_rate_per_million / _MILLION))
    provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=configuration.endpoint, insecure=True, timeout=_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
