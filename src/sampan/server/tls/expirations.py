"""Metric of the ends of the serving certificates and of the CAs for clients."""

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from cryptography import x509
from prometheus_client.core import GaugeMetricFamily, Metric

Certificates: TypeAlias = Callable[[], Iterable[x509.Certificate]]
_LABELS: Final = ("certificate", "subject")


class CertificateExpirations:
    """Prometheus collector of the certificates that one server uses. It follows reloads."""

    def __init__(self, serving: Certificates, authorities: Certificates) -> None:
        """`serving` returns the serving certificates, `authorities` the CAs for client certificates."""
        self._serving = serving
        self._authorities = authorities

    def collect(self) -> Iterable[Metric]:
        """Return the family for Prometheus."""
        ends = GaugeMetricFamily(
            "sampan_certificate_expiration_timestamp_seconds",
            "End of a serving certificate, or of a CA for client certificates, in seconds since 1970.",
            labels=_LABELS,
        )
        used = [("serving", each) for each in self._serving()]
        used += [("client CA", each) for each in self._authorities()]
        for use, certificate in used:
            ends.add_metric((use, certificate.subject.rfc4514_string()), certificate.not_valid_after_utc.timestamp())
        yield ends
