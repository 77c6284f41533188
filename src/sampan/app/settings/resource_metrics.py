"""Options of resource metrics."""

from dataclasses import dataclass

from sampan.app.controller_manager.shared_settings import bundled, bundled_setting
from sampan.core.settings import setting
from sampan.core.settings.kinds import POSITIVE_DURATION
from sampan.server.resource_metrics.settings import RESOLUTION_S, ResourceMetricsSettings


@dataclass(frozen=True, slots=True)
class ResourceMetricsOptions:
    """Usage of nodes and Pods, served by the server itself."""

    enabled: bool | None = bundled_setting(
        "Serve the usage of nodes and Pods (metrics.k8s.io) for `kubectl top` and autoscalers. The APIService of an "
        "installed metrics-server takes precedence.",
        name="resource-metrics",
    )
    resolution_s: float = setting(
        RESOLUTION_S,
        "Time between two reads of the usage, while clients request it.",
        name="resource-metrics-resolution",
        kind=POSITIVE_DURATION,
    )

    def settings(self, runtime: str) -> ResourceMetricsSettings:
        """Return the settings for the runtime of the nodes next to the server."""
        return ResourceMetricsSettings(enabled=bundled(self.enabled, runtime), resolution_s=self.resolution_s)
