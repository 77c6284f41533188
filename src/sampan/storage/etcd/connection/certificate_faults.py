"""Explanations of TLS failures: why one side of a connection to etcd refuses the other's certificate."""

import datetime
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from sampan.core.clock import utc_now
from sampan.storage.etcd.files import certificates

_NAMES_SHOWN: Final = 5
_NAME_MISMATCH: Final = (62, 64)
_EXPIRED: Final = 10
_NOT_YET_VALID: Final = 9
"""Error codes of OpenSSL (X509_V_ERR_...)."""


def server_certificate_fault(
    error: ssl.SSLCertVerificationError, presented: x509.Certificate | None, host: str, ca_file: Path | None
) -> str:
    """Return the fault of a server's certificate, as a text.

    `presented` is that certificate, or None if it could not be read.
    """
    if error.verify_code in _NAME_MISMATCH:
        return f"has a certificate for {_listed(_names(presented)) if presented else 'other names'}, not for {host}"
    if error.verify_code == _EXPIRED:
        until = f" (at {_time(presented.not_valid_after_utc)})" if presented is not None else ""
        return f"has an expired certificate{until}"
    if error.verify_code == _NOT_YET_VALID:
        return "has a certificate that is not valid yet: check the clocks"
    issuer = f" ({_common_name(presented.issuer)})" if presented is not None else ""
    if ca_file is None:
        return f"has a certificate of a CA{issuer} that this system does not trust: set --etcd-cafile"
    return f"has a certificate of a CA{issuer} that is not in --etcd-cafile {ca_file}"


def client_certificate_fault(error: ssl.SSLError, cert_file: Path | None) -> str:
    """Return the reason why a server refuses our certificate, from its TLS alert."""
    alert = (error.reason or "").rpartition("ALERT_")[2].replace("_", " ").lower()
    if cert_file is None:
        return f"requires a client certificate ({alert}): set --etcd-certfile and --etcd-keyfile"
    own = certificates(cert_file)[0]
    now = utc_now()
    refuses = f"refuses the certificate in {cert_file}"
    if own.not_valid_after_utc < now:
        return f"{refuses}: it has expired (at {_time(own.not_valid_after_utc)})"
    if own.not_valid_before_utc > now:
        return f"{refuses}: it is not valid yet"
    return (
        f"{refuses} ({alert}), signed by {_common_name(own.issuer)}: check that etcd's --trusted-ca-file has that CA, "
        "and that the certificate is for clients (clientAuth)"
    )


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:_NAMES_SHOWN], *(["…"] if len(names) > _NAMES_SHOWN else [])]
    return ", ".join(shown) or "no name"


def _time(at: datetime.datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return repr(str(found[0].value)) if found else "unnamed"
