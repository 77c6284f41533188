"""Metrics of PodSecurity: decisions and exemptions.

Source: k8s.io/pod-security-admission metrics/metrics.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter

_REQUEST: Final = ("request_operation", "resource", "subresource")


class PodSecurityMetrics:
    """Prometheus collector of the decisions of PodSecurity. The most frequent series exist from the start."""

    def __init__(self) -> None:
        self.evaluations = Counter(
            "pod_security_evaluations_total",
            "Pods and templates checked against a level; for audit and warn only violations.",
            ("decision", "policy_level", "policy_version", "mode", *_REQUEST),
        )
        self.exemptions = Counter("pod_security_exemptions_total", "Requests that are exempt.", _REQUEST)
        self.errors = Counter(
            "pod_security_errors_total", "Requests in a namespace whose policy is invalid.", ("fatal", *_REQUEST)
        )
        for operation in ("create", "update"):
            self.evaluations.add(("allow", "privileged", "latest", "enforce", operation, "pod", ""), 0)
            for resource in ("pod", "controller"):
                self.exemptions.add((operation, resource, ""), 0)

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        for counter in (self.evaluations, self.exemptions, self.errors):
            yield from counter.collect()
