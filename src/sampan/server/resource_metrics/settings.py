"""Options for the scrapes of nodes that `kubectl top` and autoscalers read."""

from dataclasses import dataclass

RESOLUTION_S = 15.0
"""Time between two scrapes of a node."""


@dataclass(frozen=True, slots=True)
class ResourceMetricsSettings:
    """Scrapes of the kubelets, and their limits."""

    enabled: bool = False
    """Serve metrics.k8s.io."""
    resolution_s: float = RESOLUTION_S
    first_window_s: float = 2.0
    """Time between the first two scrapes, after which the first client gets its response."""
    idle_after_s: float = 120.0
    """Time after the last request for metrics at which the scrapes stop."""
    timeout_s: float = 10.0
    """Longest duration of the scrape of a node. The first client waits no longer for both of them."""
    body_bytes_max: int = 8 << 20
    """Largest response of a kubelet that is read. A node with 500 containers has 0.2 MB."""
    concurrency: int = 16
    """Number of nodes that are scraped at a time."""
