"""Metric of the ends of the serving certificates and of the CAs for clients."""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.server.tls.serving import ServingTls

_LABELS: Final = ("certificate", "subject")


class CertificateExpirations:
    """Prometheus collector of the certificates that one server uses. It follows reloads."""

    def __init__(self, tls: ServingTls) -> None:
        self._tls = tls

    def collect(self) -> Iterable[Metric]:
        """Return the family for Prometheus."""
        ends = GaugeMetricFamily(
            "sampan_certificate_expiration_timestamp_seconds",
            "End of a serving certificate, or of a CA for client certificates, in seconds since 1970.",
            labels=_LABELS,
        )
        used = [("serving", each) for each in self._tls.certificates]
        used += [("client CA", each) for each in self._tls.verifier.authorities]
        for use, certificate in used:
            ends.add_metric((use, certificate.subject.rfc4514_string()), certificate.not_valid_after_utc.timestamp())
        yield ends
