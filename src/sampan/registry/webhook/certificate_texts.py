"""Texts of TLS failures of webhooks, as Go words them.

Source: go crypto/x509/verify.go, crypto/tls/conn.go, net/http/transport.go (1.26).
"""

import ipaddress
import ssl
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.x509.oid import ExtensionOID

UNTRUSTED: Final = frozenset({18, 19, 20, 21})
"""OpenSSL's codes for certificates of an unknown CA."""
_NAMES_MAX: Final = 100


def tls_text(error: ssl.SSLError) -> str:
    """Return the text for a failed handshake. A server without TLS most likely serves HTTP."""
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
        return "http: server gave HTTP response to HTTPS client"
    return f"tls: {(error.reason or str(error)).lower().replace('_', ' ')}"


def certificate_text(what: str) -> str:
    """Return the text for an invalid certificate."""
    return f"tls: failed to verify certificate: x509: {what}"


def mismatch(certificate: x509.Certificate, host: str, now: datetime) -> str:
    """Return the reason why a certificate is not valid for a host at a time; "" if it is."""
    return _time_text(certificate, now) or _name_text(certificate, host)


def _time_text(certificate: x509.Certificate, now: datetime) -> str:
    text = f"certificate has expired or is not yet valid: current time {_shown(now)} is"
    if now < certificate.not_valid_before_utc:
        return f"{text} before {_shown(certificate.not_valid_before_utc)}"
    if now > certificate.not_valid_after_utc:
        return f"{text} after {_shown(certificate.not_valid_after_utc)}"
    return ""


def _name_text(certificate: x509.Certificate, host: str) -> str:
    names, addresses = _alternatives(certificate)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _host_text(certificate, host, names, has_any=bool(names or addresses))
    if not addresses:
        return f"cannot validate certificate for {host} because it doesn't contain any IP SANs"
    return "" if address in addresses else _not_valid(", ".join(map(str, addresses)), host)


def _host_text(certificate: x509.Certificate, host: str, names: list[str], *, has_any: bool) -> str:
    if any(_matches(name, host) for name in names):
        return ""
    common = [str(each.value) for each in certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)]
    if not has_any and any(_matches(name, host) for name in common):
        return "certificate relies on legacy Common Name field, use SANs instead"
    if len(names) >= _NAMES_MAX:
        return f"certificate is valid for {len(names)} names, but none matched {host}"
    return _not_valid(", ".join(names), host)


def _not_valid(names: str, host: str) -> str:
    if not names:
        return f"certificate is not valid for any names, but wanted to match {host}"
    return f"certificate is valid for {names}, not {host}"


def _alternatives(certificate: x509.Certificate) -> tuple[list[str], list[object]]:
    try:
        found = certificate.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    except x509.ExtensionNotFound:
        return [], []
    assert isinstance(found, x509.SubjectAlternativeName)
    return found.get_values_for_type(x509.DNSName), list(found.get_values_for_type(x509.IPAddress))


def _matches(pattern: str, host: str) -> bool:
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if pattern == host:
        return True
    first, _, rest = pattern.partition(".")
    return first == "*" and bool(rest) and host.partition(".")[2] == rest


def _shown(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
