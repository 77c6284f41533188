"""Why one side of a TLS connection to etcd refuses the other one's certificate, in words."""

import datetime
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from sampan.storage.etcd.files import certificates

_NAMES_SHOWN: Final = 5
_NAMES: Final = (62, 64)
_EXPIRED: Final = 10
_EARLY: Final = 9
"""What OpenSSL says (X509_V_ERR_...)."""


def of_the_server(
    error: ssl.SSLCertVerificationError, shown: x509.Certificate | None, host: str, ca_file: Path | None
) -> str:
    """What is wrong with the certificate that a server shows (None: it could not be had again)."""
    if error.verify_code in _NAMES:
        return f"shows a certificate for {_listed(_names(shown)) if shown else 'other names'}, not for {host}"
    if error.verify_code == _EXPIRED:
        until = f" (at {_said(shown.not_valid_after_utc)})" if shown is not None else ""
        return f"shows a certificate that has expired{until}"
    if error.verify_code == _EARLY:
        return "shows a certificate that is not valid yet: are the clocks right?"
    issuer = f" ({_common_name(shown.issuer)})" if shown is not None else ""
    if ca_file is None:
        return f"shows a certificate whose authority{issuer} this system does not know: --etcd-cafile names it"
    return f"shows a certificate whose authority{issuer} is not in --etcd-cafile {ca_file}"


def of_the_client(error: ssl.SSLError, cert_file: Path | None) -> str:
    """Why a server refuses us, which it says by an alert."""
    said = (error.reason or "").rpartition("ALERT_")[2].replace("_", " ").lower()
    if cert_file is None:
        return f"asks for a client certificate ({said}): give --etcd-certfile and --etcd-keyfile"
    own = certificates(cert_file)[0]
    now = datetime.datetime.now(datetime.UTC)
    refuses = f"refuses the certificate in {cert_file}"
    if own.not_valid_after_utc < now:
        return f"{refuses}: it has expired (at {_said(own.not_valid_after_utc)})"
    if own.not_valid_before_utc > now:
        return f"{refuses}: it is not valid yet"
    return (
        f"{refuses} ({said}), signed by {_common_name(own.issuer)}: is that the authority of etcd's --trusted-ca-file, "
        "and is the certificate for clients (clientAuth)?"
    )


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:_NAMES_SHOWN], *(["…"] if len(names) > _NAMES_SHOWN else [])]
    return ", ".join(shown) or "no name"


def _said(at: datetime.datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return repr(str(found[0].value)) if found else "one without a name"
