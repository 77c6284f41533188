"""`FlowControl`: from the settings to the filter, its task, its metrics and its tables."""

from prometheus_client import CollectorRegistry

from sampan.registry.cluster import Cluster
from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.dump import install_dumps
from sampan.server.flow_control.filter import with_priority_and_fairness
from sampan.server.flow_control.max_in_flight import with_max_in_flight
from sampan.server.flow_control.metrics import FlowControlMetrics
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.request import Filter
from sampan.server.routes import Routes


class FlowControl:
    """Of one server. `filter` has its place in the chain; `controller` is None where only the two limits hold."""

    def __init__(self, cluster: Cluster, settings: FlowControlSettings) -> None:
        self.controller: FlowController | None = None
        if settings.priority_and_fairness:
            self.controller = FlowController(cluster, settings)
            self.filter: Filter = with_priority_and_fairness(self.controller)
        else:
            self.filter = with_max_in_flight(settings.max_requests_inflight, settings.max_mutating_requests_inflight)

    def install(self, routes: Routes, registry: CollectorRegistry) -> None:
        """Answer the debugging paths, and be measured."""
        if self.controller is not None:
            install_dumps(self.controller, routes)
            registry.register(FlowControlMetrics(self.controller))

    async def run(self) -> None:
        """Follow the objects, until cancelled. All of them must be loaded."""
        if self.controller is not None:
            await self.controller.run()
