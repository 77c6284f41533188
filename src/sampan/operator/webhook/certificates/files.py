"""`CertificateFiles`: certificates that another program writes to a directory (cert-manager, a mounted Secret).

Concurrency: `run` polls. New files are used when certificate and key match; until then the old ones stay in use.

Source: controller-runtime pkg/certwatcher/certwatcher.go (0.24).
"""

import asyncio
import logging
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from sampan.operator.webhook.certificates.source import CertificateSource, Material

_log = logging.getLogger("sampan.webhook")

POLL_INTERVAL_S: Final = 10.0


class CertificateFiles(CertificateSource):
    """`tls.crt` and `tls.key` of a directory, and an optional `ca.crt`, which is injected as caBundle."""

    def __init__(
        self,
        directory: Path,
        *,
        certificate_name: str = "tls.crt",
        key_name: str = "tls.key",
        ca_name: str = "ca.crt",
    ) -> None:
        super().__init__()
        self._certificate = directory / certificate_name
        self._key = directory / key_name
        self._ca = directory / ca_name
        self._warned = ""

    async def run(self) -> None:
        """Keep the certificates up to date until cancelled. Waits for files that do not exist yet."""
        while True:
            try:
                await self.refresh()
                self._warned = ""
            except (OSError, ValueError) as error:
                if str(error) != self._warned:
                    self._warned = str(error)
                    _log.warning("cannot load certificate files: %s", error)
            await asyncio.sleep(POLL_INTERVAL_S)

    async def refresh(self) -> None:
        """Check for changes now."""
        certificate, key = self._certificate.read_bytes(), self._key.read_bytes()
        ca_bundle = self._ca.read_bytes() if self._ca.exists() else b""
        leaf = x509.load_pem_x509_certificate(certificate)
        if serialization.load_pem_private_key(key, None).public_key() != leaf.public_key():
            raise ValueError(f"{self._certificate} and {self._key} do not match")
        self._hold(Material(certificate, key, ca_bundle, leaf.not_valid_after_utc))
