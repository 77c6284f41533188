"""Metric of the remaining lifetime of client certificates, which alerts for Kubernetes query.

Source: apiserver pkg/authentication/request/x509/x509.go (1.36).
"""

from collections.abc import Callable, Iterable
from typing import Final

from cryptography.x509 import load_der_x509_certificate
from prometheus_client.core import Metric

from sampan.core.clock import unix_time
from sampan.server.instruments.histogram import Histogram

_HOUR_S: Final = 3600
_DAY_S: Final = 24 * _HOUR_S
_MONTH_S: Final = 30 * _DAY_S
BUCKETS: Final = (
    0, _HOUR_S / 2, _HOUR_S, 2 * _HOUR_S, 6 * _HOUR_S, 12 * _HOUR_S, _DAY_S, 2 * _DAY_S, 4 * _DAY_S, 7 * _DAY_S,
    _MONTH_S, 3 * _MONTH_S, 6 * _MONTH_S, 12 * _MONTH_S,
)  # fmt: skip
_KNOWN_MAX: Final = 1024


class CertificateMetrics:
    """Lifetimes of client certificates. Record on the event loop. Each certificate is parsed once."""

    def __init__(self, now: Callable[[], float] = unix_time) -> None:
        """`now` returns seconds since 1970."""
        self._now = now
        self._ends: dict[bytes, float] = {}
        self._left = Histogram(
            "apiserver_client_certificate_expiration_seconds",
            "Time until the client certificates of requests expire.",
            (),
            BUCKETS,
        )

    def shown(self, der: bytes) -> None:
        """Record a request with this valid certificate."""
        end = self._ends.get(der)
        if end is None:
            if len(self._ends) >= _KNOWN_MAX:
                self._ends.clear()
            end = self._ends[der] = load_der_x509_certificate(der).not_valid_after_utc.timestamp()
        self._left.observe((), end - self._now())

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        yield from self._left.collect()
