"""Selection of the serving certificate by server name.

Source: component-base cli/flag/namedcertkey_flag.go, apiserver dynamiccertificates/named_certificates.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from cryptography import x509
from cryptography.x509.oid import NameOID

from sampan.core.validation.names import dns1123_subdomain_errors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CertKey:
    """Serving certificate with its chain, its key, and its names."""

    certificate: Path
    key: Path
    names: tuple[str, ...] = ()
    """Domain names; `*.` stands for one label. If empty, the names in the certificate are used."""

    def __str__(self) -> str:
        pair = f"{self.certificate},{self.key}"
        return f"{pair}:{','.join(self.names)}" if self.names else pair


def parse_cert_key(text: str) -> CertKey:
    """Parse `cert,key[:name,...]`. **Raises** `ValueError`."""
    files, colon, names = text.partition(":")
    if colon and not names.strip():
        raise ValueError("empty names list is not allowed")
    pair = [part.strip() for part in files.split(",")]
    if len(pair) != 2 or not all(pair):
        raise ValueError("expected comma separated certificate and key file paths")
    return CertKey(Path(pair[0]), Path(pair[1]), tuple(name.strip() for name in names.split(",")) if colon else ())


def names_in(certificate: x509.Certificate) -> list[str]:
    """Return the names in a certificate: the common name, if it is a domain, and the DNS names."""
    names = [
        str(attribute.value)
        for attribute in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[-1:]
        if _is_domain(str(attribute.value))
    ]
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return names
    return names + alternatives.get_values_for_type(x509.DNSName)


def hosts_in(certificate: x509.Certificate) -> list[str]:
    """Return the names in a certificate, and its IP addresses."""
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return names_in(certificate)
    return names_in(certificate) + [str(address) for address in alternatives.get_values_for_type(x509.IPAddress)]


def name_to_request(certificate: x509.Certificate, host: str) -> str:
    """Return the server name that clients must request from `host` for this certificate.

    Return an empty string if the certificate is valid for `host`, or has no usable name.
    """
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ""
    names = alternatives.get_values_for_type(x509.DNSName)
    names += map(str, alternatives.get_values_for_type(x509.IPAddress))
    if {host, f"*.{host.partition('.')[2]}"} & set(names):
        return ""
    return next((name for name in names if not name.startswith("*")), "")


class ServerNames(Generic[T]):
    """Values by server name. Given names precede names in certificates, exact names precede wildcards, earlier entries
    precede later ones.
    """

    def __init__(self, entries: Sequence[tuple[T, Sequence[str], Sequence[str]]]) -> None:
        """`entries` has a value, its given names, and the names in its certificate, which are used if no names are
        given.
        """
        self._by_name: dict[str, T] = {}
        for value, given, _ in entries:
            for name in given:
                self._by_name.setdefault(name.lower(), value)
        for value, given, found in entries:
            for name in () if given else found:
                self._by_name.setdefault(name.lower(), value)

    def find(self, server_name: str | None) -> T | None:
        """Return the value for the server name of a client, or None."""
        if not server_name:
            return None
        name = server_name.lower().rstrip(".")
        exact = self._by_name.get(name)
        if exact is not None:
            return exact
        _, dot, parent = name.partition(".")
        return self._by_name.get(f"*{dot}{parent}")


def _is_domain(name: str) -> bool:
    parts = name.split(".")
    is_address = len(parts) == 4 and all(part.isdigit() for part in parts)
    return not is_address and (name == "*" or not dns1123_subdomain_errors(name.removeprefix("*.")))
