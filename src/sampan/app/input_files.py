"""`check_input_files`: reads the files of the options before the server binds its port, so their errors come first.

The declarations of the settings define which options are files, and which contain certificates or a key.
"""

import datetime
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cryptography import x509

from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.core.extras import import_extra
from sampan.core.settings import settings_of
from sampan.core.tls.certificates import covers
from sampan.core.tls.pem import certificates_in, private_key_in

_log = logging.getLogger("sampan.app")

_CERTIFICATE_OF_KEY: Final = {
    "tls-private-key-file": "tls-cert-file",
    "kubelet-client-key": "kubelet-client-certificate",
    "proxy-client-key-file": "proxy-client-cert-file",
}


def check_input_files(settings: UpSettings, now: datetime.datetime) -> None:
    """Read the files of all options. Log certificates that clients refuse. Raises `StartError` for the first fault."""
    leaves: dict[str, tuple[Path, x509.Certificate]] = {}
    keys: dict[str, tuple[Path, object]] = {}
    for name, file, content in _files(settings):
        try:
            found = file.read_bytes()
            if content == "certificates":
                leaves[name] = file, certificates_in(found, file)[0]
            elif content == "key":
                keys[name] = file, private_key_in(found, file).public_key()
            elif content == "registries":
                _check_registries(found, file)
        except OSError as error:
            raise StartError(f"--{name}: cannot read {file}: {error.strerror}") from error
        except ValueError as error:
            raise StartError(f"--{name}: {error}") from error
    for name, (file, public) in keys.items():
        other = _CERTIFICATE_OF_KEY.get(name, name)
        if other in leaves and leaves[other][1].public_key() != public:
            raise StartError(f"--{name}: {file} is not the key of the certificate in --{other} {leaves[other][0]}")
    for name, (file, leaf) in leaves.items():
        _warn(name, file, leaf, now)
    if "tls-cert-file" in leaves:
        _warn_of_names(settings, *leaves["tls-cert-file"])


def _check_registries(content: bytes, file: Path) -> None:
    module: Any = import_extra("sampan.node.cri.registries.configuration", extra="cri", feature="--cri-registries")
    try:
        module.read_registries(content)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def naming_option(settings: UpSettings, text: str) -> str:
    """Return an error with the option whose file it names, unless it names an option already."""
    if re.search(r"--[a-z]", text):
        return text
    for name, file, _ in _files(settings):
        # A short path, such as `g`, may also be a part of a word.
        if re.search(rf"(?<![\w/.-]){re.escape(str(file))}(?![\w/-])", text):
            return f"--{name}: {text}"
    return text


def _files(settings: UpSettings) -> Iterator[tuple[str, Path, str]]:
    for each in settings_of(settings):
        if each.kind.completion != "file":
            continue
        values = each.default if isinstance(each.default, tuple) else (each.default,)
        for value in values:
            if isinstance(value, Path) and not _is_made_later(settings, value):
                yield each.name, value, each.kind.content
    for pair in settings.tls_sni_cert_keys:
        yield "tls-sni-cert-key", pair.certificate, "certificates"
        yield "tls-sni-cert-key", pair.key, "key"


def _is_made_later(settings: UpSettings, file: Path) -> bool:
    """Return True for a file that the first start makes, such as `pki/ca.crt` of the data directory."""
    return not file.exists() and file.absolute().is_relative_to(settings.data.absolute() / "pki")


def _warn(name: str, file: Path, certificate: x509.Certificate, now: datetime.datetime) -> None:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begin <= now <= end:
        fault = f"expired at {end:%Y-%m-%dT%H:%MZ}" if now > end else f"is not valid before {begin:%Y-%m-%dT%H:%MZ}"
        _log.warning("--%s: the certificate in %s %s: clients refuse it; replace the file", name, file, fault)


def _warn_of_names(settings: UpSettings, file: Path, certificate: x509.Certificate) -> None:
    address = settings.advertise_address
    if address and not covers(certificate, (address,)):
        _log.warning(
            "--tls-cert-file: the certificate in %s is not valid for %s (--advertise-address): clients that connect to "
            "it refuse it; add the address to its subject alternative names",
            *(file, address),
        )
