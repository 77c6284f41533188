"""Endpoints. Source: pkg/registry/core/endpoint/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.object import Object
from sampan.kinds import core_v1
from sampan.registry.columns.cells import NAME, NONE, column
from sampan.registry.kind import Kind, KindVersion
from sampan.registry.kinds.pod_spec.handlers import PORT_RANGE
from sampan.registry.rules.fields import check_label, check_qualified_name, check_subdomain, not_supported
from sampan.registry.rules.ip_addresses import check_endpoint_ip, check_ip, ip_warnings
from sampan.registry.rules.semantics import same
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_SUBSETS = Path("subsets")
_KINDS: Final = ("addresses", "notReadyAddresses")
_MANAGED_BY = "endpoints.kubernetes.io/managed-by"


class EndpointsStrategy(Strategy):
    """Strategy of Endpoints. Faults of the stored object are tolerated."""

    has_generation = False
    allow_create_on_update = True

    def default(self, obj: core_v1.Endpoints) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                if not port.get("protocol"):
                    port["protocol"] = "TCP"

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        for i, subset in enumerate(obj.get("subsets") or ()):
            _check_subset(subset, _SUBSETS.index(i), errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        found: Errors = []
        self.check(ctx, obj, found)
        if found and not same(obj.get("subsets"), old.get("subsets")):
            errors.extend(found)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) == "endpoint-controller":
            return []
        warnings: list[str] = []
        for i, subset in enumerate(obj.get("subsets") or ()):
            for kind in _KINDS:
                for j, address in enumerate(subset.get(kind) or ()):
                    at = _SUBSETS.index(i).child(kind).index(j).child("ip")
                    warnings.extend(ip_warnings(at, address.get("ip", "")))
        return warnings


def _check_subset(subset: core_v1.EndpointSubset, path: Path, errors: Errors) -> None:
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    for kind in _KINDS:
        for i, address in enumerate(subset.get(kind) or ()):
            _check_address(address, path.child(kind).index(i), errors)
    ports = subset.get("ports") or ()
    for i, port in enumerate(ports):
        _check_port(port, len(ports) > 1, path.child("ports").index(i), errors)


def _check_address(address: core_v1.EndpointAddress, path: Path, errors: Errors) -> None:
    ip = address.get("ip", "")
    check_ip(ip, path.child("ip"), errors)
    if address.get("hostname"):
        check_label(address["hostname"], path.child("hostname"), errors)
    if address.get("nodeName") is not None:
        check_subdomain(address["nodeName"], path.child("nodeName"), errors)
    check_endpoint_ip(ip, path.child("ip"), errors)


def _check_port(port: core_v1.EndpointPort, name_required: bool, path: Path, errors: Errors) -> None:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if name:
        check_label(name, path.child("name"), errors)
    elif name_required:
        errors.append(required(path.child("name")))
    if not 1 <= number <= 65535:
        errors.append(invalid(path.child("port"), number, PORT_RANGE))
    if not protocol:
        errors.append(required(path.child("protocol")))
    elif protocol not in ("TCP", "UDP", "SCTP"):
        errors.append(not_supported(path.child("protocol"), protocol, ("SCTP", "TCP", "UDP")))
    if port.get("appProtocol") is not None:
        check_qualified_name(port["appProtocol"], path.child("appProtocol"), errors)


def _addresses_text(endpoints: core_v1.Endpoints) -> str:
    texts = [text for subset in endpoints.get("subsets", ()) for text in _subset_addresses(subset)]
    if not endpoints.get("subsets"):
        return NONE
    shown = ",".join(texts[:3])
    return f"{shown} + {len(texts) - 3} more..." if len(texts) > 3 else shown


def _subset_addresses(subset: Mapping[str, Any]) -> Iterable[str]:
    addresses = [address["ip"] for address in subset.get("addresses", ())]
    ports = subset.get("ports")
    if not ports:
        return addresses
    hosts = [f"[{address}]" if ":" in address else address for address in addresses]
    return [f"{host}:{port['port']}" for port in ports for host in hosts]


KINDS: Final = (
    Kind(
        "",
        "endpoints",
        EndpointsStrategy(),
        columns=lambda ages: (NAME, column("Endpoints", _addresses_text), ages.column),
        versions={
            "v1": KindVersion(
                deprecation_warning="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
            )
        },
        storage_prefix="services/endpoints",
    ),
)
