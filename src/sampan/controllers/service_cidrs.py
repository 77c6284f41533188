"""ServiceCIDR protection: a finalizer keeps a ServiceCIDR while Services use its addresses. Ready reports the state.

Source: kubernetes pkg/controller/servicecidrs/servicecidrs_controller.go (1.36).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from sampan.client import ApiError
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import IP_ADDRESSES, SERVICE_CIDRS
from sampan.controllers.status import find_status_condition, set_status_condition, status_of, write_status
from sampan.controllers.volumes.volume_protection import set_finalizer
from sampan.core.time import parse_time
from sampan.informer.ref import Ref
from sampan.kinds import networking_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta
from sampan.resource.view import view_decoder

NAME: Final = "service-cidr-controller"
FINALIZER: Final = "networking.k8s.io/service-cidr-finalizer"
DELETION_GRACE_PERIOD_S: Final = 10.0
"""Time for the allocators of all servers to notice the deletion before the finalizer is removed."""
_MANAGED_BY: Final = "ipaddress.kubernetes.io/managed-by"
_ALLOCATOR: Final = "ipallocator.k8s.io"
_READY: Final = {
    "type": "Ready",
    "status": "True",
    "reason": "",
    "message": "Kubernetes Service CIDR is ready",
}
_TERMINATING: Final = {
    "type": "Ready",
    "status": "False",
    "reason": "Terminating",
    "message": (
        "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
    ),
}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    ranges = context.informer(SERVICE_CIDRS).indexer

    def requests_of(affected: Callable[[Sequence[Network]], bool]) -> Iterable[Request]:
        return [Request("", ref.name) for ref in ranges.refs() if affected(_networks_of_ref(ref))]

    def overlapping(ref: Ref[Any]) -> Iterable[Request]:
        own = _networks_of_ref(ref)
        return requests_of(
            lambda others: any(one.overlaps(other) for one in own for other in others if _comparable(one, other))
        )

    def containing(ref: Ref[Any]) -> Iterable[Request]:
        if ref.labels.get(_MANAGED_BY) != _ALLOCATOR:
            return ()
        address = ipaddress.ip_address(ref.name)
        return requests_of(lambda networks: any(address in network for network in networks))

    (
        Builder(context.manager)
        .named(NAME)
        .for_(SERVICE_CIDRS)
        .watches(SERVICE_CIDRS, overlapping)
        .watches(IP_ADDRESSES, containing)
        .complete(ServiceCIDRs(context))
    )


class ServiceCIDRs:
    """Adds the finalizer and the condition to ServiceCIDRs, and removes the finalizer if no address is in use."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._cidrs = client.resource(SERVICE_CIDRS)
        self._addresses = client.resource(IP_ADDRESSES)
        self._recorder = context.recorder(NAME)

    async def reconcile(self, request: Request) -> Result | None:
        """Bring one ServiceCIDR up to date. Raises `ApiError`, `TransportError`."""
        cidr = await self._cidrs.find(request)
        if cidr is None:
            return None
        if meta(cidr).deletion_timestamp is not None:
            return await self._release(cidr)
        await set_finalizer(self._cidrs, cidr, FINALIZER)
        try:
            await self._set_condition(cidr, _READY)
        except ApiError:
            text = "The ServiceCIDR Status can not be set to Ready=True"
            self._recorder.warning(cidr, "KubernetesServiceCIDRError", text)
            raise
        return None

    async def _release(self, cidr: networking_v1.ServiceCIDR) -> Result | None:
        if FINALIZER not in meta(cidr).finalizers:
            return None
        if await self._is_needed(cidr):
            await self._set_condition(cidr, _TERMINATING)
            return None
        deleted = parse_time(meta(cidr).deletion_timestamp or "")
        left_s = DELETION_GRACE_PERIOD_S - (self._clock.now() - deleted).total_seconds()
        if left_s > 0:
            return Result(requeue_after_s=left_s)
        await set_finalizer(self._cidrs, cidr, FINALIZER)
        return None

    async def _is_needed(self, cidr: networking_v1.ServiceCIDR) -> bool:
        """Return True if the address of a Service would be in no ServiceCIDR without this one.

        This is stricter than in Kubernetes: other ranges that are being deleted do not count, so two equal ranges
        cannot release each other.
        """
        name = meta(cidr).name
        others = [
            network
            for other in (await self._cidrs.list()).items
            if meta(other).name != name and meta(other).deletion_timestamp is None
            for network in _networks(other)
        ]
        orphans = [
            own
            for own in _networks(cidr)
            if not any(_comparable(own, other) and own.subnet_of(other) for other in others)  # type: ignore[arg-type]
            # of one family
        ]
        if not orphans:
            return False
        return any(
            any(address in own for own in orphans) and not any(address in other for other in others)
            for address in map(_address_of, (await self._addresses.list()).items)
            if address is not None
        )

    async def _set_condition(self, cidr: networking_v1.ServiceCIDR, condition: Mapping[str, str]) -> None:
        status = status_of(cidr)
        present = find_status_condition(status, "Ready") or {}
        if present.get("message") != condition["message"]:
            # `set_status_condition` compares only status and reason.
            present["message"] = condition["message"]
        set_status_condition(status, condition, self._clock)
        await write_status(self._cidrs, cidr, status, optimistic_lock=False)


def _comparable(one: Network, other: Network) -> bool:
    return one.version == other.version


def _networks(cidr: networking_v1.ServiceCIDR) -> list[Network]:
    return [ipaddress.ip_network(text) for text in (cidr.get("spec") or {}).get("cidrs") or ()]


def _address_of(obj: networking_v1.IPAddress) -> Address | None:
    """Return the address of an IPAddress; None if it was not allocated for a Service."""
    if meta(obj).labels.get(_MANAGED_BY) != _ALLOCATOR:
        return None
    return ipaddress.ip_address(meta(obj).name)


class _Spec(msgspec.Struct):
    cidrs: list[str] = msgspec.field(default_factory=list)


class _Ranges(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_ranges = view_decoder(_Ranges)


def _networks_of_ref(ref: Ref[Any]) -> list[Network]:
    return [ipaddress.ip_network(text) for text in _ranges(ref.raw).spec.cidrs]
