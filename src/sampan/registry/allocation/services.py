"""Decide which cluster IPs and node ports a Service needs, and allocate them. If the write fails, all these allocations
are released. If it succeeds, addresses and ports that the old Service no longer needs are released.
Source: pkg/registry/core/service/storage/{storage,alloc}.go (1.36).
"""

from __future__ import annotations

from typing import Literal

from sampan.core import errors as status_errors
from sampan.core.field import FieldError, Path, invalid
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.kinds import core_v1
from sampan.registry.allocation.allocators import (
    Allocators,
    family_of,
    held_ips,
)
from sampan.registry.allocation.ip_allocator import AllocationError
from sampan.registry.allocation.service_transaction import Transaction, holder_of
from sampan.registry.rules.service_ips import validate_cluster_ips
from sampan.registry.rules.service_types import needs_cluster_ip, needs_health_check, node_ports

_KIND = GroupKind("", "Service")
_IPS = Path("spec", "clusterIPs")
_PORTS = Path("spec", "ports")
_POLICY = Path("spec", "ipFamilyPolicy")
_FAMILIES = Path("spec", "ipFamilies")


def allocate_create(service: Object, allocators: Allocators, *, dry_run: bool) -> Transaction:
    """Allocate what a new Service needs, and set it in the Service. Raises `StatusError`; nothing is allocated then."""
    spec = service["spec"]
    txn = Transaction(allocators, holder_of(service), dry_run)
    try:
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        _init_families(spec, None, txn)
        _take_cluster_ips(spec, txn)
        if spec.get("type") in ("NodePort", "LoadBalancer"):
            _take_node_ports(spec, txn)
        if needs_health_check(spec):
            _take_health_check_port(spec, txn)
    except BaseException:
        txn.settle(False)
        raise
    return txn


def allocate_update(service: Object, old: Object, allocators: Allocators, *, dry_run: bool) -> Transaction:
    """Allocate what a changed Service needs in addition. Raises `StatusError`; nothing is allocated then."""
    spec: core_v1.ServiceSpec = service["spec"]
    old_spec: core_v1.ServiceSpec = old.get("spec") or {}
    txn = Transaction(allocators, holder_of(service), dry_run)
    try:
        complete_from_old(spec, old_spec)
        if not _is_settled_dual_stack(spec, old_spec):
            _init_families(spec, old_spec, txn)
            _update_cluster_ips(spec, old, txn)
        _update_node_ports(spec, old_spec, txn)
        needed, needs = needs_health_check(old_spec), needs_health_check(spec)
        if needs and not needed:
            _take_health_check_port(spec, txn)
        elif needed and not needs and old_spec.get("healthCheckNodePort"):
            txn.release_port(old_spec["healthCheckNodePort"])
    except BaseException:
        txn.settle(False)
        raise
    return txn


def complete_from_old(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec) -> None:
    """Add, in place, what an old client leaves out of an update. Idempotent.

    Kubernetes does it before anything else looks at the addresses, also before it drops those of the old type.
    """
    _keep_allocated(spec, old_spec)
    _normalize(spec, old_spec)


def _keep_allocated(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec) -> None:
    """Keep addresses and ports that the server chose and that the client left out."""
    if needs_cluster_ip(spec) and needs_cluster_ip(old_spec):
        if not spec.get("clusterIP") and old_spec.get("clusterIP"):
            spec["clusterIP"] = old_spec["clusterIP"]
        if not spec.get("clusterIPs") and old_spec.get("clusterIPs"):
            spec["clusterIPs"] = list(old_spec["clusterIPs"])
    if _has_node_ports(spec) and _has_node_ports(old_spec):
        used = set(node_ports(spec)) & set(node_ports(old_spec))
        by_name = {port.get("name", ""): port.get("nodePort", 0) for port in old_spec.get("ports") or ()}
        for port in spec.get("ports") or ():
            before = by_name.get(port.get("name", ""), 0)
            if not port.get("nodePort") and before and before not in used:
                port["nodePort"] = before
    health_port = old_spec.get("healthCheckNodePort")
    if health_port and needs_health_check(spec) and needs_health_check(old_spec):
        spec["healthCheckNodePort"] = spec.get("healthCheckNodePort") or health_port


def _has_node_ports(spec: core_v1.ServiceSpec) -> bool:
    kind = spec.get("type")
    return kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False)


def _normalize(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec) -> None:
    """Make `clusterIPs` follow `clusterIP` for clients that set only `clusterIP`."""
    ip, old_ip = spec.get("clusterIP", ""), old_spec.get("clusterIP", "")
    ips, old_ips = spec.get("clusterIPs") or [], old_spec.get("clusterIPs") or []
    if old_ips and not ips and ip == old_ip:
        spec["clusterIPs"] = list(old_ips)
    if ip != old_ip and ips == old_ips:
        if ip:
            spec["clusterIPs"] = [ip]
        else:
            spec.pop("clusterIPs", None)


def _is_settled_dual_stack(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec) -> bool:
    """Report whether a Service prefers two families, and nothing about its addresses changes."""
    if spec.get("ipFamilyPolicy") != "PreferDualStack" or spec.get("type") == "ExternalName":
        return False
    return (
        old_spec.get("type") == spec.get("type")
        and old_spec.get("ipFamilyPolicy") in (None, "PreferDualStack")
        and (spec.get("clusterIPs") or []) == (old_spec.get("clusterIPs") or [])
        and (spec.get("ipFamilies") or []) == (old_spec.get("ipFamilies") or [])
    )


def _init_families(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec | None, txn: Transaction) -> None:
    """Set the policy and the families, and check that the cluster supports them."""
    if spec.get("type") == "ExternalName":
        return
    if spec.get("ipFamilyPolicy") is None:
        headless = spec.get("clusterIP") == "None" and not spec.get("selector")
        kept = (old_spec or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = kept or ("RequireDualStack" if headless else "SingleStack")
    faults: list[FieldError] = []
    validate_cluster_ips(spec, old_spec or {}, faults)
    if faults:
        raise status_errors.invalid(_KIND, txn.name, faults)
    if old_spec is not None:
        _check_reduction(spec, old_spec, faults)
    _check_policy(spec, txn.allocators, faults)
    if faults:
        raise status_errors.invalid(_KIND, txn.name, faults)
    _fill_families(spec, txn.allocators)


def _check_reduction(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec, faults: list[FieldError]) -> None:
    policy = spec["ipFamilyPolicy"]
    names: tuple[tuple[Literal["clusterIPs", "ipFamilies"], str], ...]
    names = (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family"))
    for name, what in names:
        new, old = spec.get(name) or [], old_spec.get(name) or []
        if policy == "SingleStack":
            if new == old and len(new) > 1:
                spec[name] = new[:1]
        elif new and len(new) < len(old):
            faults.append(invalid(_POLICY, policy, f"must be 'SingleStack' to release the secondary {what}"))


def _check_policy(spec: core_v1.ServiceSpec, allocators: Allocators, faults: list[FieldError]) -> None:
    policy, ips, families = spec["ipFamilyPolicy"], spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    if policy == "SingleStack":
        for what, values in (("cluster IPs", ips), ("IP families", families)):
            if len(values) == 2:
                text = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                faults.append(invalid(_POLICY, policy, text))
    for i, ip in enumerate(ips):
        if ip == "None":
            break
        family = family_of(ip)
        if i < len(families):
            continue
        if family not in allocators.ips:
            faults.append(invalid(_IPS.index(i), ips, f"{family} is not configured on this cluster"))
        else:
            families = [*families, family]
            spec["ipFamilies"] = families
    headless_without_selector = ips[:1] == ["None"] and not spec.get("selector")
    if policy == "RequireDualStack" and not headless_without_selector and len(allocators.ips) < 2:
        faults.append(invalid(_POLICY, policy, "this cluster is not configured for dual-stack services"))
    if not headless_without_selector:
        for i, family in enumerate(families):
            if family not in allocators.ips:
                faults.append(invalid(_FAMILIES.index(i), family, "not configured on this cluster"))


def _fill_families(spec: core_v1.ServiceSpec, allocators: Allocators) -> None:
    ips, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    other = {"IPv4": "IPv6", "IPv6": "IPv4"}
    if not families:
        families = [allocators.primary_family]
    headless = ips[:1] == ["None"] and not spec.get("selector")
    if spec["ipFamilyPolicy"] != "SingleStack" and len(families) == 1 and (headless or len(allocators.ips) == 2):
        families = [*families, other[families[0]]]
    spec["ipFamilies"] = families


def _take_cluster_ips(spec: core_v1.ServiceSpec, txn: Transaction) -> None:
    ips = spec.get("clusterIPs") or []
    if spec.get("type") == "ExternalName" or ips[:1] == ["None"]:
        return
    shown = list(ips)
    desired = list(ips) + [""] * (len(spec["ipFamilies"]) - len(ips))
    given = [txn.take_ip(family, ip, shown) for family, ip in zip(spec["ipFamilies"], desired, strict=False)]
    spec["clusterIPs"] = given
    spec["clusterIP"] = given[0]


def _update_cluster_ips(spec: core_v1.ServiceSpec, old: Object, txn: Transaction) -> None:
    old_spec = old.get("spec") or {}
    if old_spec.get("type") == "ExternalName":
        _take_cluster_ips(spec, txn)
        return
    old_ips, ips = old_spec.get("clusterIPs") or [], spec.get("clusterIPs") or []
    if old_ips[:1] == ["None"]:
        return
    if spec.get("type") == "ExternalName":
        txn.released_ips.extend(held_ips(old))
        return
    families, old_families = spec.get("ipFamilies") or [], old_spec.get("ipFamilies") or []
    if len(old_families) == 1 and len(families) == 2:
        second = ips[1] if len(ips) > 1 else ""
        spec["clusterIPs"] = [*ips[:1], txn.take_ip(families[1], second, list(ips))]
    elif len(old_families) == 2 and len(families) == 1 and len(old_ips) > 1:
        txn.released_ips.append(old_ips[1])


def _shall_have_node_port(spec: core_v1.ServiceSpec) -> bool:
    return spec.get("type") == "NodePort" or (
        spec.get("type") == "LoadBalancer" and bool(spec.get("allocateLoadBalancerNodePorts"))
    )


def _take_node_ports(spec: core_v1.ServiceSpec, txn: Transaction) -> None:
    """Allocate node ports. Ports with the same number (and different protocols) share a node port, unless the client
    sets different ones.
    """
    by_number: dict[int, int] = {}
    ports = spec.get("ports") or []
    requested_ports = {port.get("port", 0): port["nodePort"] for port in reversed(ports) if port.get("nodePort")}
    for i, port in enumerate(ports):
        number, own = port.get("port", 0), port.get("nodePort", 0)
        if not own and not _shall_have_node_port(spec):
            continue
        shared = by_number.get(number)
        if shared is None:
            number_requested = requested_ports.get(number, 0)
            if number_requested:
                txn.take_port(number_requested, _PORTS.index(i).child("nodePort"))
            else:
                number_requested = txn.take_any_port()
            port["nodePort"] = by_number[number] = number_requested
        elif not own:
            port["nodePort"] = shared
        elif own != shared:
            txn.take_port(own, _PORTS.index(i).child("nodePort"))


def _update_node_ports(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec, txn: Transaction) -> None:
    with_ports = ("NodePort", "LoadBalancer")
    old_ports = dict.fromkeys(node_ports(old_spec))
    if spec.get("type") not in with_ports:
        if old_spec.get("type") in with_ports:
            for port in old_ports:
                txn.release_port(port)
        return
    taken: set[int] = set()
    for i, entry in enumerate(spec.get("ports") or ()):
        own = entry.get("nodePort", 0)
        if own:
            if own not in old_ports and own not in taken:
                txn.take_port(own, _PORTS.index(i).child("nodePort"))
                taken.add(own)
        elif _shall_have_node_port(spec):
            entry["nodePort"] = txn.take_any_port()
    kept = set(node_ports(spec))
    for port in old_ports:
        if port not in kept:
            txn.release_port(port)


def _take_health_check_port(spec: core_v1.ServiceSpec, txn: Transaction) -> None:
    port = spec.get("healthCheckNodePort", 0)
    if not port:
        spec["healthCheckNodePort"] = txn.take_any_port("a HealthCheck NodePort 0")
        return
    try:
        txn.take_this_port(port)
    except AllocationError as error:
        text = f"failed to allocate requested HealthCheck NodePort {port}: {error}"
        raise status_errors.internal_error(text) from error
