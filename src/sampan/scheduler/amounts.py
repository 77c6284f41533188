"""Amounts of resources as integers: CPU in thousandths, all others in units.

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
"""CPU that a container without a CPU request counts for in scores, in thousandths."""
NONZERO_MEMORY: Final = 200 * 1024 * 1024
"""Memory that a container without a memory request counts for in scores, in bytes."""

_AMOUNT_MAX: Final = 1 << 56
"""Upper bound of all amounts, so that sums over a Node's Pods fit into 64 bits."""

Amounts = dict[str, int]
_Quantities = Mapping[str, str | int | float]


@functools.lru_cache(maxsize=4096)
def _parsed(text: str, scale: int) -> int:
    return max(-_AMOUNT_MAX, min(_AMOUNT_MAX, quantity.parse(text).scaled_value(scale)))


def amount(resource: str, value: str | int | float) -> int:
    """Return one amount; 0 for a malformed quantity, which the API server rejects anyway."""
    try:
        return _parsed(str(value), -3 if resource == CPU else 0)
    except ValueError:
        return 0


def amounts(quantities: _Quantities) -> Amounts:
    """Return amounts by resource."""
    return {resource: amount(resource, value) for resource, value in quantities.items()}


def pod_requests(spec: PodSpec, defaults: Mapping[str, int] | None = None) -> Amounts:
    """Return the requests of a Pod: the highest amount in use at any time, plus its overhead.

    `defaults` applies to containers without a request for a resource. Sidecars (init containers that are always
    restarted) run together with everything that starts after them.
    """
    total = _sum(_of_container(container, defaults) for container in spec.containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.init_containers:
        requests = _of_container(container, defaults)
        if container.restart_policy == "Always":
            sidecars = _sum((sidecars, requests))
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum((sidecars, requests)))
    total = _most(_sum((total, sidecars)), peak)
    if spec.resources is not None:
        for resource, value in amounts(spec.resources.requests).items():
            if resource in (CPU, MEMORY) or resource.startswith("hugepages-"):
                total[resource] = value
    return _sum((total, amounts(spec.overhead))) if spec.overhead else total


def _of_container(container: Container, defaults: Mapping[str, int] | None) -> Amounts:
    requests = amounts(container.resources.requests)
    return {**defaults, **requests} if defaults else requests


def _sum(parts: Iterable[Mapping[str, int]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for resource, value in part.items():
            total[resource] = min(total.get(resource, 0) + value, _AMOUNT_MAX)
    return total


def _most(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    return {resource: max(one.get(resource, 0), other.get(resource, 0)) for resource in dict.fromkeys((*one, *other))}
