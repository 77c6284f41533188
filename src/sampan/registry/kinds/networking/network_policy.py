"""Network policies. Source: pkg/registry/networking/networkpolicy, pkg/apis/networking/{v1,validation} (1.36)."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.numbers.integers import integer_or
from sampan.core.object import Object
from sampan.core.validation.values import port_name_errors, port_number_errors
from sampan.kinds import networking_v1
from sampan.registry.columns.cells import EMPTY, NAME, column, selector_or_none
from sampan.registry.kind import Kind
from sampan.registry.old_versions.parts import unchanged
from sampan.registry.rules.fields import Errors, check_label_selector, not_supported
from sampan.registry.rules.ip_addresses import check_cidr, cidr_warnings, parse_ip
from sampan.registry.rules.selectors import has_invalid_selector
from sampan.registry.strategy import Context, RecordReader, Strategy
from sampan.storage.encoding import decode

_SPEC = Path("spec")
_TYPES = ("Ingress", "Egress")
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))
_PROTOCOLS = ("TCP", "UDP", "SCTP")

ENFORCED: Final = "NetworkPoliciesEnforced"
"""Condition with which a node reports whether it enforces policies."""
_ENFORCED_BYTES: Final = f'"{ENFORCED}"'.encode()
_NODES_MAX: Final = 100
"""Nodes whose conditions are read for a warning."""
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _check_port(port: networking_v1.NetworkPolicyPort, path: Path, errors: Errors) -> None:
    protocol, number, end = port.get("protocol", "TCP"), port.get("port"), port.get("endPort")
    if protocol not in _PROTOCOLS:
        errors.append(not_supported(path.child("protocol"), protocol, _PROTOCOLS))
    at = path.child("endPort")
    if number is None:
        if end is not None:
            errors.append(invalid(at, end, "may not be specified when `port` is not specified"))
    elif isinstance(number, str):
        if end is not None:
            errors.append(invalid(at, end, "may not be specified when `port` is non-numeric"))
        errors.extend(invalid(path.child("port"), number, text) for text in port_name_errors(number))
    else:
        errors.extend(invalid(path.child("port"), number, text) for text in port_number_errors(number))
        if end is not None:
            if end < number:
                errors.append(invalid(at, number, "must be greater than or equal to `port`"))
            errors.extend(invalid(at, end, text) for text in port_number_errors(end))


def _network(cidr: str) -> Network | None:
    """Parse a network as Go's older parser does. None if it is malformed."""
    address, _, length = cidr.partition("/")
    ip = parse_ip(address)
    if ip is None or not length.isdigit():
        return None
    size = integer_or(length, -1) - (96 if ip.version == 4 and ":" in address else 0)
    try:
        return ipaddress.ip_network(f"{ip}/{size}", strict=False)
    except ValueError:
        return None


def _is_strict_subset(inner: Network, outer: Network) -> bool:
    if inner.version != outer.version or inner.prefixlen <= outer.prefixlen:
        return False
    return inner.network_address in outer


def _check_block(block: networking_v1.IPBlock, path: Path, errors: Errors, stored: Collection[str]) -> None:
    cidr = block.get("cidr", "")
    if not cidr:
        errors.append(required(path.child("cidr")))
        return
    check_cidr(cidr, path.child("cidr"), errors, stored)
    network = _network(cidr)
    if network is None:
        return
    for index, text in enumerate(block.get("except") or ()):
        at = path.child("except").index(index)
        check_cidr(text, at, errors, stored)
        inner = _network(text)
        if inner is not None and not _is_strict_subset(inner, network):
            errors.append(invalid(at, text, "must be a strict subset of `cidr`"))


def _check_peer(
    peer: networking_v1.NetworkPolicyPeer, path: Path, errors: Errors, *, lenient: bool, stored: Collection[str]
) -> None:
    count = 0
    for name in ("podSelector", "namespaceSelector"):
        if name in peer:
            count += 1
            check_label_selector(peer[name], path.child(name), errors, allow_invalid_values=lenient)
    block = peer.get("ipBlock")
    if block is not None:
        _check_block(block, path.child("ipBlock"), errors, stored)
        if count:
            errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    elif not count:
        errors.append(required(path, "must specify a peer"))


def _blocks(spec: networking_v1.NetworkPolicySpec) -> Iterator[tuple[networking_v1.IPBlock, Path]]:
    given: Mapping[str, Any] = spec  # the rules of the two directions have different types
    for direction, peers in _DIRECTIONS:
        for i, rule in enumerate(given.get(direction) or ()):
            for j, peer in enumerate(rule.get(peers) or ()):
                if "ipBlock" in peer:
                    path = _SPEC.child(direction).index(i).child(peers).index(j).child("ipBlock")
                    yield peer["ipBlock"], path


def _check_spec(
    spec: networking_v1.NetworkPolicySpec, old: networking_v1.NetworkPolicySpec | None, errors: Errors
) -> None:
    lenient = old is not None and has_invalid_selector(old.get("podSelector"))
    stored: set[str] = set()
    if old is not None:
        for block, _ in _blocks(old):
            stored |= {block.get("cidr", ""), *(block.get("except") or ())}
    check_label_selector(spec.get("podSelector"), _SPEC.child("podSelector"), errors, allow_invalid_values=lenient)
    given: Mapping[str, Any] = spec  # the rules of the two directions have different types
    for direction, peers in _DIRECTIONS:
        for i, rule in enumerate(given.get(direction) or ()):
            path = _SPEC.child(direction).index(i)
            for j, port in enumerate(rule.get("ports") or ()):
                _check_port(port, path.child("ports").index(j), errors)
            for j, peer in enumerate(rule.get(peers) or ()):
                _check_peer(peer, path.child(peers).index(j), errors, lenient=lenient, stored=stored)
    types = spec.get("policyTypes") or ()
    at = _SPEC.child("policyTypes")
    if len(types) > len(_TYPES):
        errors.append(invalid(at, types, "may not specify more than two policyTypes"))
        return
    for i, kind in enumerate(types):
        if kind not in _TYPES:
            errors.append(not_supported(at.index(i), kind, _TYPES))


def enforcement_warnings(reader: RecordReader) -> list[str]:
    """Warn if nodes report that they do not enforce policies. Nodes of other programs report nothing."""
    enforced = 0
    off: dict[str, str] = {}
    for record in reader.records("", "nodes"):
        # Most nodes of a simulated cluster lack the condition, and decoding thousands would take too long.
        if _ENFORCED_BYTES not in record.value:
            continue
        if enforced + len(off) == _NODES_MAX:
            break
        node = decode(record.value)
        condition = _condition(node)
        if condition.get("status") == "True":
            enforced += 1
        elif condition:
            off[node["metadata"]["name"]] = condition.get("message", "")
    if not off:
        return []
    name, reason = next(iter(off.items()))
    if not enforced:
        return [f"no node enforces NetworkPolicy: the policy has no effect (node {name}: {reason})"]
    more = f" and {len(off) - 1} more" if len(off) > 1 else ""
    return [f"node {name}{more} does not enforce NetworkPolicy: the policy has no effect there ({reason})"]


def _condition(node: Object) -> Object:
    """Return the condition of a node that reports enforcement; empty if it has none."""
    conditions: list[Object] = (node.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each.get("type") == ENFORCED), {})


class NetworkPolicyStrategy(Strategy):
    """Defaults, rules and warnings of network policies."""

    def default(self, obj: networking_v1.NetworkPolicy) -> None:
        """Set defaults: the policy applies to ingress, and to egress if it has egress rules. Ports are TCP."""
        spec: networking_v1.NetworkPolicySpec = obj.setdefault("spec", {})
        spec.setdefault("podSelector", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for rules in (spec.get("ingress"), spec.get("egress")):
            for rule in rules or ():
                for port in rule.get("ports") or ():
                    port.setdefault("protocol", "TCP")

    def check(self, ctx: Context, obj: networking_v1.NetworkPolicy, errors: Errors) -> None:
        _check_spec(obj.get("spec", {}), None, errors)

    def check_update(
        self, ctx: Context, obj: networking_v1.NetworkPolicy, old: networking_v1.NetworkPolicy, errors: Errors
    ) -> None:
        """Check an update. Faults of stored selectors and networks are tolerated."""
        _check_spec(obj.get("spec", {}), old.get("spec", {}), errors)

    def warnings_on_create(self, ctx: Context, obj: networking_v1.NetworkPolicy) -> list[str]:
        """Warn about networks that are not in canonical form, and about nodes that do not enforce policies."""
        found: list[str] = []
        for block, path in _blocks(obj.get("spec", {})):
            found += cidr_warnings(path.child("cidr"), block.get("cidr", ""))
            for i, text in enumerate(block.get("except") or ()):
                found += cidr_warnings(path.child("except").index(i), text)
        return found if ctx.reader is None else found + enforcement_warnings(ctx.reader)


KINDS: Final = (
    Kind(
        "networking.k8s.io",
        "networkpolicies",
        NetworkPolicyStrategy(),
        old_versions={"extensions/v1beta1": unchanged},
        columns=lambda ages: (
            NAME,
            column("Pod-Selector", lambda obj: selector_or_none(obj.get("spec", EMPTY).get("podSelector"))),
            ages.column,
        ),
    ),
)
