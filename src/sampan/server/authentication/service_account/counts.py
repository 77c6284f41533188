"""`TokenCounts`: counters of service account tokens by kind. They show if old kinds are still in use.

Source: kubernetes pkg/serviceaccount/metrics.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter

_PREFIX: Final = "serviceaccount_"


def _counter(name: str, text: str) -> Counter:
    counter = Counter(f"{_PREFIX}{name}_total", text, ())
    counter.add((), 0)
    return counter


class TokenCounts:
    """Prometheus collector of service account tokens. Cached tokens are not counted again."""

    def __init__(self) -> None:
        self.legacy = _counter("legacy_tokens", "Tokens that name no audience.")
        self.valid = _counter("valid_tokens", "Bound tokens that were refreshed in time.")
        self.stale = _counter("stale_tokens", "Bound tokens that should have been refreshed.")
        self.manual = _counter("legacy_manual_token_uses", "Tokens of Secrets that were created manually.")
        self.auto = _counter("legacy_auto_token_uses", "Tokens of Secrets that their account names.")
        self.invalid_auto = _counter("invalid_legacy_auto_token_uses", "Tokens of Secrets that are marked invalid.")

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        for counter in (self.legacy, self.valid, self.stale, self.manual, self.auto, self.invalid_auto):
            yield from counter.collect()
