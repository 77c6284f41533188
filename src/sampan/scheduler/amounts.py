"""Requests of Pods as integers: CPU in thousandths of a core, all other resources in units.

Source: pkg/scheduler/util/pod_resources.go (1.36).
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.numbers.resource_amounts import AMOUNT_MAX, CPU, Amounts, amount, amounts
from sampan.core.pods.resources import PodParts
from sampan.core.pods.resources import pod_requests as requests_of_parts
from sampan.scheduler.views import Container, PodSpec

__all__ = [
    "CPU",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "NONZERO_CPU",
    "NONZERO_MEMORY",
    "PODS",
    "Amounts",
    "amount",
    "amounts",
    "pod_requests",
]

MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"
NONZERO_CPU: Final = 100
"""Assumed CPU request in scores of a container without a CPU request, in thousandths of a core."""
NONZERO_MEMORY: Final = 200 * 1024 * 1024
"""Assumed memory request in scores of a container without a memory request, in bytes."""


def pod_requests(spec: PodSpec, defaults: Mapping[str, int] | None = None) -> Amounts:
    """Return the requests of a Pod: its highest amounts at any time, plus its overhead.

    `defaults` applies to containers without a request for a resource.
    """
    parts = PodParts(
        [_of_container(each, defaults) for each in spec.containers],
        [(_of_container(each, defaults), each.restart_policy == "Always") for each in spec.init_containers],
        amounts(spec.resources.requests) if spec.resources is not None else {},
        amounts(spec.overhead),
    )
    return {resource: min(value, AMOUNT_MAX) for resource, value in requests_of_parts(parts).items()}


def _of_container(container: Container, defaults: Mapping[str, int] | None) -> Amounts:
    requests = amounts(container.resources.requests)
    return {**defaults, **requests} if defaults else requests
