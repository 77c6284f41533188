"""IP addresses and CIDR blocks. Source: apiserver pkg/cel/library/{ip,cidr}.go, costs of library/cost.go (1.36)."""

import ipaddress
import math
from typing import Any, TypeAlias

from sampan.core.field import quote
from sampan.schema.cel.declarations import (
    Library,
    first_traversal,
    first_traversal_twice,
    function,
    member,
    traversal,
    with_cost,
)
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, INT, STRING, opaque
from sampan.schema.cel.values import LibraryValue, size_of

IP, CIDR = opaque("net.IP"), opaque("net.CIDR")

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class IPValue(LibraryValue):
    """IP address."""

    __slots__ = ("address",)
    type_name = IP.name

    def __init__(self, address: _Address) -> None:
        self.address = address

    @property
    def size(self) -> int:  # type: ignore[override]  # a constant in the base
        """Return the size in bytes."""
        return self.address.max_prefixlen // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IPValue) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)


class CIDRValue(LibraryValue):
    """Address with the prefix length of its network."""

    __slots__ = ("interface",)
    type_name = CIDR.name

    def __init__(self, interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> None:
        self.interface = interface

    @property
    def size(self) -> int:  # type: ignore[override]  # a constant in the base
        """Return the size of the prefix in bytes."""
        return math.ceil(self.interface.network.prefixlen / 8)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDRValue) and self.interface == other.interface

    def __hash__(self) -> int:
        return hash(self.interface)


def _mapped(address: object) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def _parse(text: str) -> _Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        shown = quote(text)
        reason = f"ParseAddr({shown}): unable to parse IP"
        raise CelRuntimeError(f"IP Address {shown} parse error during conversion from string: {reason}") from None
    if "%" in text:
        raise CelRuntimeError(f"IP address {quote(text)} with zone value is not allowed")
    if _mapped(address):
        raise CelRuntimeError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return address


def _ip(text: str) -> IPValue:
    return IPValue(_parse(text))


def _is_ip(text: str) -> bool:
    try:
        _parse(text)
    except CelRuntimeError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(_parse(text)) == text


def _family(value: IPValue) -> int:
    return value.address.version


def _is_unspecified(value: IPValue) -> bool:
    return value.address.is_unspecified


def _is_loopback(value: IPValue) -> bool:
    return value.address.is_loopback


def _is_link_local_unicast(value: IPValue) -> bool:
    return value.address.is_link_local


def _is_link_local_multicast(value: IPValue) -> bool:
    packed = value.address.packed
    if len(packed) == 4:
        return packed[:3] == b"\xe0\x00\x00"
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _is_global_unicast(value: IPValue) -> bool:
    address = value.address
    broadcast = address.packed == b"\xff\xff\xff\xff"
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or broadcast
    )


def _shown(value: Any) -> str:
    return str(value.address if isinstance(value, IPValue) else value.interface)


def _parse_cidr(text: str) -> CIDRValue:
    address, slash, bits = text.partition("/")
    message = f"netip.ParsePrefix({quote(text)})"
    known = bits.isascii() and bits.isdigit() and (bits == "0" or bits[0] != "0")
    try:
        if not slash or not known or "%" in address:
            raise ValueError
        interface = ipaddress.ip_interface(text)
    except ValueError:
        detail = "no '/'" if not slash else "unable to parse"
        raise CelRuntimeError(
            "network address parse error during conversion from string: "
            f"network address parse error during conversion from string: {message}: {detail}"
        ) from None
    if _mapped(interface.ip):
        raise CelRuntimeError(
            f"network address parse error during conversion from string: IPv4-mapped IPv6 address {quote(text)} "
            "is not allowed"
        )
    return CIDRValue(interface)


def _is_cidr(text: str) -> bool:
    try:
        _parse_cidr(text)
    except CelRuntimeError:
        return False
    return True


def _contains_ip(block: CIDRValue, value: Any) -> bool:
    address = _parse(value) if isinstance(value, str) else value.address
    return address in block.interface.network


def _contains_cidr(block: CIDRValue, value: Any) -> bool:
    other = _parse_cidr(value) if isinstance(value, str) else value
    outer, inner = block.interface.network, other.interface.network
    return outer.version == inner.version and outer.prefixlen <= inner.prefixlen and inner.network_address in outer


def _block_ip(block: CIDRValue) -> IPValue:
    return IPValue(block.interface.ip)


def _prefix_length(block: CIDRValue) -> int:
    return int(block.interface.network.prefixlen)


def _masked(block: CIDRValue) -> CIDRValue:
    return CIDRValue(ipaddress.ip_interface(block.interface.network.with_prefixlen))


def _text_size(value: Any) -> int:
    return traversal(len(value)) if isinstance(value, str) else 0


def _contains_ip_cost(args: tuple[Any, ...], result: Any) -> int:
    return traversal(size_of(args[0]), 2) + _text_size(args[1])


def _contains_cidr_cost(args: tuple[Any, ...], result: Any) -> int:
    return traversal(size_of(args[0]), 2) + traversal(size_of(args[0])) + 1 + _text_size(args[1])


IPS = Library(
    (
        *with_cost(
            first_traversal,
            (
                function("ip", "string_to_ip", (STRING,), IP, _ip),
                function("isIP", "is_ip", (STRING,), BOOL, _is_ip),
            ),
        ),
        *with_cost(
            first_traversal_twice, (function("ip.isCanonical", "ip_is_canonical", (STRING,), BOOL, _is_canonical),)
        ),
        member("family", "ip_family", (IP,), INT, _family),
        member("isUnspecified", "ip_is_unspecified", (IP,), BOOL, _is_unspecified),
        member("isLoopback", "ip_is_loopback", (IP,), BOOL, _is_loopback),
        member("isLinkLocalMulticast", "ip_is_link_local_multicast", (IP,), BOOL, _is_link_local_multicast),
        member("isLinkLocalUnicast", "ip_is_link_local_unicast", (IP,), BOOL, _is_link_local_unicast),
        member("isGlobalUnicast", "ip_is_global_unicast", (IP,), BOOL, _is_global_unicast),
        function("string", "ip_to_string", (IP,), STRING, _shown),
    ),
    (IP,),
)
CIDRS = Library(
    (
        *with_cost(
            first_traversal,
            (
                function("cidr", "string_to_cidr", (STRING,), CIDR, _parse_cidr),
                function("isCIDR", "is_cidr", (STRING,), BOOL, _is_cidr),
            ),
        ),
        *with_cost(
            _contains_ip_cost,
            (
                member("containsIP", "cidr_contains_ip_string", (CIDR, STRING), BOOL, _contains_ip),
                member("containsIP", "cidr_contains_ip_ip", (CIDR, IP), BOOL, _contains_ip),
            ),
        ),
        *with_cost(
            _contains_cidr_cost,
            (
                member("containsCIDR", "cidr_contains_cidr_string", (CIDR, STRING), BOOL, _contains_cidr),
                member("containsCIDR", "cidr_contains_cidr", (CIDR, CIDR), BOOL, _contains_cidr),
            ),
        ),
        member("ip", "cidr_ip", (CIDR,), IP, _block_ip),
        member("prefixLength", "cidr_prefix_length", (CIDR,), INT, _prefix_length),
        member("masked", "cidr_masked", (CIDR,), CIDR, _masked),
        function("string", "cidr_to_string", (CIDR,), STRING, _shown),
    ),
    (CIDR,),
)
