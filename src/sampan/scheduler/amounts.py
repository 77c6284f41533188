"""Amounts of resources as whole numbers: CPU in thousandths, all else in units.

Source: component-helpers resource/helpers.go `PodRequests`, pkg/scheduler/util/pod_resources.go (1.36).
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from sampan.core import quantity
from sampan.scheduler.views import Container, PodSpec

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"
NONZERO_CPU: Final = 100
"""What a container without a request of CPU counts for when Nodes are scored, in thousandths."""
NONZERO_MEMORY: Final = 200 * 1024 * 1024
"""The same for memory, in bytes."""

_AMOUNT_MAX: Final = 1 << 56
"""The largest amount that is told from others: the sums of a Node's Pods must fit 64 bits."""

Amounts = dict[str, int]
_Said = Mapping[str, str | int | float]


@functools.lru_cache(maxsize=4096)
def _parsed(text: str, scale: int) -> int:
    return max(-_AMOUNT_MAX, min(_AMOUNT_MAX, quantity.parse(text).scaled_value(scale)))


def amount(resource: str, said: str | int | float) -> int:
    """One amount; 0 for what is no quantity (the API server lets none through)."""
    try:
        return _parsed(str(said), -3 if resource == CPU else 0)
    except ValueError:
        return 0


def amounts(said: _Said) -> Amounts:
    """Amounts by resource."""
    return {resource: amount(resource, value) for resource, value in said.items()}


def pod_requests(spec: PodSpec, defaults: Mapping[str, int] | None = None) -> Amounts:
    """What a Pod asks for: the most of what runs at a time, with its overhead.

    `defaults` is what containers count for that say nothing of a resource. Sidecars (init containers that are always
    restarted) run with all that starts after them.
    """
    total = _sum(_of_container(container, defaults) for container in spec.containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.init_containers:
        asks = _of_container(container, defaults)
        if container.restart_policy == "Always":
            sidecars = _sum((sidecars, asks))
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum((sidecars, asks)))
    total = _most(_sum((total, sidecars)), peak)
    if spec.resources is not None:
        for resource, value in amounts(spec.resources.requests).items():
            if resource in (CPU, MEMORY) or resource.startswith("hugepages-"):
                total[resource] = value
    return _sum((total, amounts(spec.overhead))) if spec.overhead else total


def _of_container(container: Container, defaults: Mapping[str, int] | None) -> Amounts:
    asks = amounts(container.resources.requests)
    return {**defaults, **asks} if defaults else asks


def _sum(parts: Iterable[Mapping[str, int]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for resource, value in part.items():
            total[resource] = min(total.get(resource, 0) + value, _AMOUNT_MAX)
    return total


def _most(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    return {resource: max(one.get(resource, 0), other.get(resource, 0)) for resource in dict.fromkeys((*one, *other))}
