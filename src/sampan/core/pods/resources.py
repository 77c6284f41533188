"""Requests and limits of a whole Pod, computed from those of its containers.

    parts = parts_of(pod, "requests", amounts, in_effect=True)
    pod_requests(parts)     # {"cpu": Quantity("350m"), "memory": Quantity("64Mi")}

The rules of Pods, quotas, the scheduler and the node agent share this computation. Amounts are `Quantity` where they
must be exact (rules, quotas), and `int` where they must be fast (scheduler, node agent).

Source: component-helpers resource/helpers.go `PodRequests`, `PodLimits` (1.36).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVar

from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object

A = TypeVar("A", int, Quantity)
Kind = Literal["requests", "limits"]

HUGE_PAGES_PREFIX: Final = "hugepages-"
_POD_LEVEL: Final = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class PodParts(Generic[A]):
    """Requests of all parts of one Pod, or their limits. Each mapping has amounts by resource name."""

    containers: Sequence[Mapping[str, A]]
    init_containers: Sequence[tuple[Mapping[str, A], bool]] = ()
    """Amounts of each init container, in order. The flag is True for a sidecar (restart policy Always)."""
    pod_level: Mapping[str, A] = field(default_factory=dict)
    """Amounts of `spec.resources`. They replace the sum over the containers."""
    overhead: Mapping[str, A] = field(default_factory=dict)
    """Amounts of `spec.overhead`; empty to leave it out."""


def pod_requests(parts: PodParts[A]) -> dict[str, A]:
    """Return the requests of a Pod: its highest amounts at any time, plus its overhead."""
    total = _total(parts)
    _add(total, parts.overhead)
    return total


def pod_limits(parts: PodParts[A]) -> dict[str, A]:
    """Return the limits of a Pod, plus its overhead for resources that have a limit above zero."""
    total = _total(parts)
    _add(total, {name: amount for name, amount in parts.overhead.items() if total.get(name)})
    return total


def is_pod_level(name: str) -> bool:
    """Report whether `spec.resources` of a Pod may have this resource."""
    return name in _POD_LEVEL or name.startswith(HUGE_PAGES_PREFIX)


def parts_of(
    pod: Object,
    kind: Kind,
    parse: Callable[[Mapping[str, Any] | None], Mapping[str, A]],
    *,
    in_effect: bool = False,
    overhead: bool = True,
    pod_level: bool = True,
) -> PodParts[A]:
    """Return the requests or the limits of the parts of a Pod that is given as JSON.

    `overhead`, `pod_level`: include `spec.overhead` and `spec.resources`.

    `in_effect`: during a resize in place, count the larger one of the desired amounts and those that the node reports
    in the status. If the node has refused the resize as infeasible, count only the reported amounts.
    """
    spec = pod.get("spec") or {}
    reported = _Reported(pod.get("status") or {}) if in_effect else None

    def amounts_of(container: Object) -> Mapping[str, A]:
        desired = parse((container.get("resources") or {}).get(kind))
        status = reported.containers.get(container.get("name", "")) if reported is not None else None
        if reported is None or status is None:
            return desired
        counted = dict(parse(status["resources"].get(kind)))
        if kind == "requests":
            _raise_to(counted, parse(status.get("allocatedResources")))
        if not reported.is_infeasible:
            _raise_to(counted, desired)
        return counted

    return PodParts(
        [amounts_of(each) for each in spec.get("containers") or ()],
        [(amounts_of(each), each.get("restartPolicy") == "Always") for each in spec.get("initContainers") or ()],
        parse((spec.get("resources") or {}).get(kind)) if pod_level else {},
        parse(spec.get("overhead")) if overhead else {},
    )


class _Reported:
    """Resources that a Pod's status reports."""

    def __init__(self, status: Object) -> None:
        statuses: Iterable[Object] = (
            *(status.get("containerStatuses") or ()),
            *(status.get("initContainerStatuses") or ()),
        )
        self.containers = {each.get("name", ""): each for each in statuses if each.get("resources")}
        self.is_infeasible = any(
            each.get("type") == "PodResizePending" and each.get("reason") == "Infeasible"
            for each in status.get("conditions") or ()
        )


def _total(parts: PodParts[A]) -> dict[str, A]:
    """Return the peak over a Pod's life, without its overhead.

    Ordinary init containers run one after the other, each next to the sidecars before it. The ordinary containers run
    next to all sidecars. So the peak is the maximum over all these moments, by resource.
    """
    total: dict[str, A] = {}
    for amounts in parts.containers:
        _add(total, amounts)
    if parts.init_containers:
        sidecars: dict[str, A] = {}
        peak: dict[str, A] = {}
        for amounts, is_sidecar in parts.init_containers:
            moment = dict(sidecars)
            _add(moment, amounts)
            _raise_to(peak, moment)
            if is_sidecar:
                sidecars = moment
        _add(total, sidecars)
        _raise_to(total, peak)
    return total | {name: amount for name, amount in parts.pod_level.items() if is_pod_level(name)}


def _add(total: dict[str, A], amounts: Mapping[str, A]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: dict[str, A], amounts: Mapping[str, A]) -> None:
    """Raise each amount to that of `amounts`, where that is higher or the resource is new."""
    for name, amount in amounts.items():
        if name not in total or total[name] < amount:
            total[name] = amount
