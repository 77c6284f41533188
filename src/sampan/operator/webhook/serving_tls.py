"""`ServingContext`: TLS context of a listener whose certificate changes while it listens."""

import ssl
from pathlib import Path

from sampan.core.tls.cipher_suites import use_suites
from sampan.core.tls.trust import trust
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.operator.webhook.certificates import CertificateSource


class ServingContext:
    """`context` uses the certificate of `source` at the time of each handshake. The source must be ready.

    With `client_ca_file`, clients need a certificate of one of its authorities.
    """

    def __init__(self, source: CertificateSource, *, client_ca_file: Path | None = None) -> None:
        self._source = source
        self._client_ca_file = client_ca_file
        self._current = self._make()
        self.context = self._make()
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
        # A resumed session would keep the certificate of the first one.
        self.context.num_tickets = 0
        if client_ca_file is not None:
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.sni_callback = self._choose
        source.listen(self._renew)

    def _choose(self, connection: ssl.SSLObject, server_name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self._current

    def _renew(self) -> None:
        self._current = self._make()

    def _make(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        use_suites(context)
        material = self._source.material
        load_certificate(context, ClientCertificate(material.certificate, material.key))
        context.set_alpn_protocols(["http/1.1"])
        if self._client_ca_file is not None:
            trust(context, self._client_ca_file.read_text("ascii", "replace"))
        return context
