"""IP addresses and ranges of services. Source: pkg/registry/networking, pkg/apis/networking/validation (1.36)."""

import ipaddress
from typing import ClassVar, Final

from sampan.core.field import Path, invalid, quote, required
from sampan.core.object import Object
from sampan.core.validation.names import path_segment_errors
from sampan.registry.columns.cells import EMPTY, NAME, NONE, column
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import IMMUTABLE, Errors, check_immutable, check_subdomain
from sampan.registry.rules.ip_addresses import check_cidr, check_ip, is_ipv6, parse_ip
from sampan.registry.strategy import OBJECT_METADATA, Context, Strategy

_PARENT = Path("spec", "parentRef")
_CIDRS = Path("spec", "cidrs")


class IPAddressStrategy(Strategy):
    """Strategy of IPAddresses. The name is the address, and the parent is immutable."""

    has_generation = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check that the name is an address in canonical form."""
        errors: Errors = []
        check_ip(name, Path(), errors)
        ip = parse_ip(name)
        if not errors and ip is not None and str(ip) != name:
            return [f"must be in canonical form ({quote(str(ip))})"]
        return [error.detail for error in errors]

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        """Check that the reference to the parent is complete."""
        parent = obj.get("spec", {}).get("parentRef")
        if parent is None:
            errors.append(required(_PARENT))
            return
        if parent.get("group"):
            check_subdomain(parent["group"], _PARENT.child("group"), errors)
        for name in ("resource", "name", "namespace"):
            value = parent.get(name, "")
            if not value and name != "namespace":
                errors.append(required(_PARENT.child(name)))
            errors.extend(invalid(_PARENT.child(name), value, text) for text in path_segment_errors(value))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: the parent is immutable."""
        self.check(ctx, obj, errors)
        check_immutable(obj.get("spec", {}).get("parentRef"), old.get("spec", {}).get("parentRef"), _PARENT, errors)


def _check_canonical_cidr(text: str, path: Path, errors: Errors) -> None:
    before = len(errors)
    check_cidr(text, path, errors)
    if len(errors) == before:
        canonical = str(ipaddress.ip_network(text, strict=False))
        if canonical != text:
            errors.append(invalid(path, text, f"must be in canonical form ({quote(canonical)})"))


def _check_cidrs(cidrs: list[str], errors: Errors) -> None:
    if not cidrs:
        errors.append(required(_CIDRS, "at least one CIDR required"))
        return
    if len(cidrs) > 2:
        errors.append(invalid(_CIDRS, {"CIDRs": cidrs}, "may only hold up to 2 values"))
        return
    for index, cidr in enumerate(cidrs):
        _check_canonical_cidr(cidr, _CIDRS.index(index), errors)
    addresses = [cidr.partition("/")[0] for cidr in cidrs]
    if len(cidrs) == 2 and all(map(parse_ip, addresses)) and is_ipv6(addresses[0]) == is_ipv6(addresses[1]):
        detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        errors.append(invalid(_CIDRS, cidrs, detail))


class ServiceCIDRStrategy(Strategy):
    """Strategy of ServiceCIDRs: one range, or one of each family. A second family may be added later."""

    kept_metadata = OBJECT_METADATA
    reset_metadata: ClassVar = {}
    has_generation = False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_cidrs(obj.get("spec", {}).get("cidrs") or [], errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that no stored range changed."""
        cidrs, before = obj.get("spec", {}).get("cidrs") or [], old.get("spec", {}).get("cidrs") or []
        if len(cidrs) == len(before):
            for index, cidr in enumerate(cidrs):
                if cidr != before[index]:
                    errors.append(invalid(_CIDRS.index(index), cidr, IMMUTABLE))
        elif len(before) == 1 and len(cidrs) == 2:
            if cidrs[0] != before[0]:
                errors.append(invalid(_CIDRS.index(0), cidrs[0], IMMUTABLE))
            _check_cidrs(cidrs, errors)
        else:
            errors.append(invalid(_CIDRS, cidrs or None, IMMUTABLE))


def _parent(address: Object) -> str:
    parent = address.get("spec", EMPTY).get("parentRef")
    if parent is None:
        return NONE
    resource, group = parent.get("resource", ""), parent.get("group", "")
    parts = [f"{resource}.{group}".lower() if group else resource.lower()]
    if parent.get("namespace"):
        parts.append(parent["namespace"])
    return "/".join([*parts, parent.get("name", "")])


KINDS: Final = (
    Kind(
        "networking.k8s.io",
        "ipaddresses",
        IPAddressStrategy(),
        columns=lambda ages: (NAME, column("ParentRef", _parent), column("", ages.age)),
    ),
    Kind(
        "networking.k8s.io",
        "servicecidrs",
        ServiceCIDRStrategy(),
        columns=lambda ages: (
            NAME,
            column("CIDRs", lambda obj: ",".join(obj.get("spec", EMPTY).get("cidrs", ()))),
            ages.column,
        ),
    ),
)
