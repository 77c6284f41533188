"""Export of the spans of requests with OTLP over gRPC. Needs the extra `tracing`.

Source: apiserver pkg/server/options/tracing.go, component-base tracing/utils.go (1.36).
"""

from sampan.core.telemetry.otlp import otlp_provider
from sampan.server.tracing.configuration import TracingConfiguration
from sampan.server.tracing.tracer import RequestTracer

_MILLION = 1_000_000


class OtlpCollector:
    """Exports the spans of sampled requests until `end` is called."""

    def __init__(self, configuration: TracingConfiguration) -> None:
        rate = configuration.sampling_rate_per_million / _MILLION
        self._provider = otlp_provider(configuration.endpoint, service="apiserver", rate=rate)
        self.tracer = RequestTracer(self._provider)

    def end(self) -> None:
        """Export the remaining spans. Blocks for some seconds if the collector does not respond."""
        self._provider.shutdown()
