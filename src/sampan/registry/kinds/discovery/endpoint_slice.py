"""Strategies of discovery.k8s.io."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.core.field import Path, duplicate, invalid, required, too_many
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.validation.domains import fully_qualified_domain_name_errors
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors, label_value_errors
from sampan.kinds import discovery_v1
from sampan.registry.columns.cells import NAME, at, column, some_of
from sampan.registry.kind import Kind
from sampan.registry.old_versions.endpoint_slice import endpoint_slice
from sampan.registry.rules.fields import (
    Errors,
    check_immutable,
    check_label,
    check_labels,
    check_qualified_name,
    not_supported,
)
from sampan.registry.rules.ip_addresses import check_endpoint_ip, check_ip, ip_warnings, is_ipv6, parse_ip
from sampan.registry.strategy import Context, Strategy

_ADDRESS_TYPE = Path("addressType")
_ENDPOINTS = Path("endpoints")
_PORTS = Path("ports")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ENDPOINTS_MAX = 1000
_ADDRESSES_MAX = 100
_PORTS_MAX = 20_000
_TOPOLOGY_MAX = 16
_HINTS_MAX = 8
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")
_NOT_SPEC = ("apiVersion", "kind", "metadata")


def _check_address(address: str, kind: str, path: Path, index: int, errors: Errors) -> None:
    """Check an address. `path` is the path of the list."""
    at = path.index(index)
    if kind == "FQDN":
        errors.extend(fully_qualified_domain_name_errors(at, address))
        return
    before = len(errors)
    check_ip(address, at, errors)
    ip = parse_ip(address)
    if kind == "IPv6" and len(errors) == before and ip is not None and str(ip) != address:
        errors.append(invalid(at, address, f'must be in canonical form ("{ip}")'))
    if len(errors) > before:
        return
    if is_ipv6(address) != (kind == "IPv6"):
        errors.append(invalid(path, address, f"must be an {kind} address"))
    check_endpoint_ip(address, at, errors)


def _check_hints(hints: discovery_v1.EndpointHints, path: Path, errors: Errors) -> None:
    given: Mapping[str, Any] = hints
    for field, rule in (("forZones", label_value_errors), ("forNodes", dns1123_subdomain_errors)):
        entries, at = given.get(field) or (), path.child(field)
        if len(entries) > _HINTS_MAX:
            errors.append(too_many(at, len(entries), _HINTS_MAX))
            return
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name, place = entry.get("name", ""), at.index(index).child("name")
            if name in seen:
                errors.append(duplicate(place, name))
            seen.add(name)
            errors.extend(invalid(place, name, text) for text in rule(name))


def _check_endpoint(endpoint: discovery_v1.Endpoint, kind: str, path: Path, errors: Errors) -> None:
    addresses, at = endpoint.get("addresses") or (), path.child("addresses")
    if not addresses:
        errors.append(required(at, "must contain at least 1 address"))
    elif len(addresses) > _ADDRESSES_MAX:
        errors.append(too_many(at, len(addresses), _ADDRESSES_MAX))
    if kind in _ADDRESS_TYPES:
        for index, address in enumerate(addresses):
            _check_address(address, kind, at, index, errors)
    node = endpoint.get("nodeName")
    if node is not None:
        errors.extend(invalid(path.child("nodeName"), node, text) for text in dns1123_subdomain_errors(node))
    topology, at = endpoint.get("deprecatedTopology", {}), path.child("deprecatedTopology")
    if len(topology) > _TOPOLOGY_MAX:
        errors.append(too_many(at, len(topology), _TOPOLOGY_MAX))
    check_labels(topology, at, errors)
    if "hostname" in endpoint:
        check_label(endpoint["hostname"], path.child("hostname"), errors)
    if "hints" in endpoint:
        _check_hints(endpoint["hints"], path.child("hints"), errors)


def _check_endpoints(obj: Object, errors: Errors) -> None:
    endpoints = obj.get("endpoints") or ()
    if len(endpoints) > _ENDPOINTS_MAX:
        errors.append(too_many(_ENDPOINTS, len(endpoints), _ENDPOINTS_MAX))
        return
    for index, endpoint in enumerate(endpoints):
        _check_endpoint(endpoint, obj.get("addressType", ""), _ENDPOINTS.index(index), errors)


def _check_ports(ports: list[discovery_v1.EndpointPort], errors: Errors) -> None:
    if len(ports) > _PORTS_MAX:
        errors.append(too_many(_PORTS, len(ports), _PORTS_MAX))
        return
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path, name = _PORTS.index(index), port.get("name", "")
        if name:
            errors.extend(invalid(path.child("name"), name, text) for text in dns1123_label_errors(name))
        if name in seen:
            errors.append(duplicate(path.child("name"), name))
        seen.add(name)
        protocol = port.get("protocol")
        if protocol is None:
            errors.append(required(path.child("protocol")))
        elif protocol not in _PROTOCOLS:
            errors.append(not_supported(path.child("protocol"), protocol, _PROTOCOLS))
        if "appProtocol" in port:
            check_qualified_name(port["appProtocol"], path.child("appProtocol"), errors)


def _node_names(endpoints: Iterable[discovery_v1.Endpoint]) -> set[str]:
    found = {endpoint.get("deprecatedTopology", {}).get("kubernetes.io/hostname", "") for endpoint in endpoints}
    return found - {""}


class EndpointSliceStrategy(Strategy):
    """Defaults, rules and warnings of endpoint slices.

    Source: pkg/registry/discovery/endpointslice, pkg/apis/discovery/{v1,validation} (1.36).
    """

    def default(self, obj: Object) -> None:
        """Set defaults: ports have a protocol and a name, maybe empty. `endpoints` and `ports` are always present."""
        for name in ("endpoints", "ports"):
            obj.setdefault(name, None)
        for port in obj.get("ports") or ():
            port.setdefault("name", "")
            port.setdefault("protocol", "TCP")

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop the topology that older clients send."""
        for endpoint in obj.get("endpoints") or ():
            endpoint.pop("deprecatedTopology", None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop the topology that older clients send. Its node names are kept."""
        endpoints, before = obj.get("endpoints") or (), old.get("endpoints") or ()
        if endpoints == before:
            return
        names = _node_names(before)
        for endpoint in endpoints:
            name = endpoint.pop("deprecatedTopology", {}).get("kubernetes.io/hostname")
            if "nodeName" not in endpoint and name in names and not dns1123_subdomain_errors(name):
                endpoint["nodeName"] = name

    def spec_changed(self, obj: Object, old: Object) -> bool:
        """Return True also if labels changed."""
        if obj["metadata"].get("labels", {}) != old["metadata"].get("labels", {}):
            return True
        return any(name not in _NOT_SPEC and not same(obj.get(name), old.get(name)) for name in obj.keys() | old.keys())

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        self._check(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Unchanged endpoints are not checked again, and the address type is immutable."""
        self._check(obj, old, errors)
        check_immutable(obj.get("addressType", ""), old.get("addressType", ""), _ADDRESS_TYPE, errors)

    def _check(self, obj: Object, old: Object | None, errors: Errors) -> None:
        kind = obj.get("addressType", "")
        if not kind:
            errors.append(required(_ADDRESS_TYPE))
        elif kind not in _ADDRESS_TYPES:
            errors.append(not_supported(_ADDRESS_TYPE, kind, _ADDRESS_TYPES))
        _check_ports(obj.get("ports") or [], errors)
        if old is None or obj.get("endpoints") != old.get("endpoints"):
            _check_endpoints(obj, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about host names, and about addresses that are not in canonical form."""
        found = ["spec.addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []
        return found + self._address_warnings(obj)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warn about addresses that are not in canonical form."""
        return self._address_warnings(obj)

    def _address_warnings(self, obj: Object) -> list[str]:
        if obj["metadata"].get("labels", {}).get(_MANAGED_BY) in _CONTROLLERS:
            return []
        return [
            text
            for i, endpoint in enumerate(obj.get("endpoints") or ())
            for j, address in enumerate(endpoint.get("addresses") or ())
            for text in ip_warnings(_ENDPOINTS.index(i).child("addresses").index(j), address)
        ]


def _port_text(port: Mapping[str, Any]) -> str:
    number = port.get("port")
    return str(number) if number is not None else port.get("name", "*")


def _addresses(endpoint_slice: discovery_v1.EndpointSlice) -> Iterable[str]:
    return (address for endpoint in endpoint_slice.get("endpoints") or () for address in endpoint["addresses"])


KINDS: Final = (
    Kind(
        "discovery.k8s.io",
        "endpointslices",
        EndpointSliceStrategy(),
        old_versions={"discovery.k8s.io/v1beta1": endpoint_slice},
        columns=lambda ages: (
            NAME,
            column("AddressType", at("addressType")),
            column("Ports", lambda obj: some_of(map(_port_text, obj.get("ports") or ()), 3)),
            column("Endpoints", lambda obj: some_of(_addresses(obj), 3)),
            ages.column,
        ),
    ),
)
