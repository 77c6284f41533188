"""`FlowControl`: creates filter, task, metrics and debugging pages from the settings."""

from prometheus_client import CollectorRegistry

from sampan.registry.cluster import Cluster
from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.dump import install_dumps
from sampan.server.flow_control.filter import with_priority_and_fairness
from sampan.server.flow_control.max_in_flight import with_max_in_flight
from sampan.server.flow_control.metrics import FlowControlMetrics
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.request import Filter
from sampan.server.routes.routes import Routes


class FlowControl:
    """Flow control of one server. `filter` is for the filter chain. `controller` is None if priority and fairness are
    disabled.
    """

    def __init__(self, cluster: Cluster, settings: FlowControlSettings) -> None:
        self.controller: FlowController | None = None
        if settings.priority_and_fairness:
            self.controller = FlowController(cluster, settings)
            self.filter: Filter = with_priority_and_fairness(self.controller)
        else:
            self.filter = with_max_in_flight(settings.max_requests_inflight, settings.max_mutating_requests_inflight)

    def install(self, routes: Routes, registry: CollectorRegistry) -> None:
        """Add the debugging pages, and register the metrics."""
        if self.controller is not None:
            install_dumps(self.controller, routes)
            registry.register(FlowControlMetrics(self.controller))

    async def run(self) -> None:
        """Keep schemas and levels current until cancelled. The caches must be loaded."""
        if self.controller is not None:
            await self.controller.run()
