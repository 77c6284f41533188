"""IP addresses and CIDRs, in fields whose older rules accepted more.

Source: apimachinery pkg/util/validation/ip.go (1.36).
"""

import ipaddress
from collections.abc import Collection

from sampan.core.field import FieldError, Path, invalid
from sampan.core.numbers.integers import integer_or
from sampan.registry.rules import feature_gates as gates

Errors = list[FieldError]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address
_NOT_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NOT_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parse_ip(text: str) -> IP | None:
    """Parse an address as Go's older parser does: leading zeros are decimal, IPv4-mapped IPv6 is IPv4."""
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return _parse_with_zeros(text)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id:
            return None
        if ip.ipv4_mapped is not None:
            return ip.ipv4_mapped
    return ip


def _parse_with_zeros(text: str) -> IP | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    try:
        return ipaddress.IPv4Address(".".join(str(int(part)) for part in parts))
    except ValueError:
        return None


def is_ipv6(text: str) -> bool:
    """Return True if a text is an IPv6 address that does not map IPv4."""
    return isinstance(parse_ip(text), ipaddress.IPv6Address)


def _is_mapped(text: str) -> bool:
    return ":" in text and isinstance(parse_ip(text), ipaddress.IPv4Address)


def check_ip(text: str, path: Path, errors: Errors, stored: Collection[str] = ()) -> None:
    """Check an address. Addresses in `stored` are accepted without a check."""
    if text in stored:
        return
    ip = parse_ip(text)
    if ip is None:
        errors.append(invalid(path, text, _NOT_IP))
    elif gates.STRICT_IP_CIDR_VALIDATION:
        if _is_mapped(text):
            errors.append(invalid(path, text, "must not be an IPv4-mapped IPv6 address"))
        elif ip.version == 4 and str(ip) != text:
            errors.append(invalid(path, text, "must not have leading 0s"))


def check_cidr(text: str, path: Path, errors: Errors, stored: Collection[str] = ()) -> None:
    """Check a network. Networks in `stored` are accepted without a check."""
    if text in stored:
        return
    address, _, length = text.partition("/")
    ip = parse_ip(address)
    bits = 0 if ip is None else (128 if ":" in address else 32)
    size = integer_or(length, -1)
    if ip is None or not length.isdigit() or not 0 <= size <= bits:
        errors.append(invalid(path, text, _NOT_CIDR))
        return
    if not gates.STRICT_IP_CIDR_VALIDATION:
        return
    if _is_mapped(address):
        errors.append(invalid(path, text, "must not have an IPv4-mapped IPv6 address"))
    elif (ip.version == 4 and str(ip) != address) or str(size) != length:
        errors.append(invalid(path, text, "must not have leading 0s in IP or prefix length"))
    elif int(ip) & ((1 << (bits - size)) - 1):
        errors.append(invalid(path, text, "must not have bits set beyond the prefix length"))


def ip_warnings(path: Path, text: str) -> list[str]:
    """Return warnings for a valid address that is not in canonical form."""
    ip = parse_ip(text)
    if ip is None:
        return []
    if _is_mapped(text) or (ip.version == 4 and str(ip) != text):
        return [f'{path}: non-standard IP address "{text}" is invalid: use "{ip}"']
    if str(ip) != text:
        return [f'{path}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{ip}")']
    return []


def cidr_warnings(path: Path, text: str) -> list[str]:
    """Return warnings for a valid network that is not in canonical form."""
    address, _, length = text.partition("/")
    ip = parse_ip(address)
    given = integer_or(length, -1) if length.isdigit() else -1
    if ip is None or given < 0:
        return []
    found = []
    bits = 32 if ip.version == 4 else 128
    size = given - (96 if _is_mapped(address) else 0)
    if not 0 <= size <= bits:
        return []
    network = ipaddress.ip_network(f"{ip}/{size}", strict=False)
    if ip != network.network_address:
        found.append(
            f'{path}: CIDR value "{text}" is ambiguous in this context (should be "{network}" or "{ip}/{bits}"?)'
        )
    if _is_mapped(address) or (ip.version == 4 and str(ip) != address) or str(given) != length:
        found.append(f'{path}: non-standard CIDR value "{text}" is invalid: use "{network}"')
    if not found and ip.version == 6 and f"{ip}/{length}" != text:
        found.append(f'{path}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{ip}/{length}")')
    return found


def are_dual_stack(texts: list[str]) -> bool:
    """Return True if the addresses are of both families."""
    return any(is_ipv6(text) for text in texts) and any(not is_ipv6(text) for text in texts)


def check_endpoint_ip(text: str, path: Path, errors: Errors) -> None:
    """Check an address that other nodes can reach."""
    ip = parse_ip(text)
    if ip is None:
        errors.append(invalid(path, text, "must be a valid IP address"))
        return
    if ip.is_unspecified:
        errors.append(invalid(path, text, f"may not be unspecified ({text})"))
    if ip.is_loopback:
        errors.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if ip.is_link_local:
        errors.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if _is_link_local_multicast(ip):
        detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        errors.append(invalid(path, text, detail))


def _is_link_local_multicast(ip: IP) -> bool:
    if ip.version == 4:
        return int(ip) >> 8 == 0xE00000
    return int(ip) >> 120 == 0xFF and (int(ip) >> 112) & 0x0F == 2
