"""`otlp_provider`: export of spans with OTLP over gRPC. Needs the extra `tracing`.

Concurrency: the SDK sends in its own thread. Its queue has room for 2048 spans; further spans are dropped.
"""

import uuid
from typing import Final

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

_TIMEOUT_S: Final = 5


def otlp_provider(endpoint: str, *, service: str, rate: float, insecure: bool = True) -> TracerProvider:
    """Return a provider whose spans go to a collector. End it with `shutdown`, which may block for some seconds.

    `rate`: share of spans without a parent that are exported, from 0 to 1. Other spans follow their parent.
    """
    resource = Resource.create({"service.name": service, "service.instance.id": f"{service}-{uuid.uuid4()}"})
    sampler = ParentBased(TraceIdRatioBased(rate))
    provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=insecure, timeout=_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
