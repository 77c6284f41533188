"""`EncryptionMetrics`: how values are encrypted and decrypted, what KMS plug-ins do, and which configuration holds.

Source: apiserver pkg/storage/value/metrics.go, pkg/storage/value/encrypt/envelope/metrics/metrics.go,
pkg/server/options/encryptionconfig/metrics/metrics.go (1.36).
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.server.histogram import Counter, Histogram
from sampan.storage.encryption.kms.provider import KmsProvider
from sampan.storage.encryption.measures import EncryptionMeasures

_STORAGE: Final = "apiserver_storage_"
_ENVELOPE: Final = "apiserver_envelope_encryption_"
_CONFIGURATION: Final = "apiserver_encryption_config_controller_"
_SERVER: Final = "apiserver_id_hash"


class Reloads:
    """The configuration that holds, and what came of newer ones."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        """`now`: seconds since 1970."""
        self._now = now
        self.content = b""
        self.counts: dict[str, int] = {}
        self.last: dict[str, float] = {}

    def succeeded(self, content: bytes) -> None:
        """Another one holds."""
        self.content = content
        self._count("success")

    def failed(self) -> None:
        """One could not be used."""
        self._count("failure")

    def _count(self, status: str) -> None:
        self.counts[status] = self.counts.get(status, 0) + 1
        self.last[status] = self._now()


class EncryptionMetrics:
    """A collector for Prometheus. `server`: the name of this one."""

    def __init__(
        self, measures: EncryptionMeasures, reloads: Reloads, kms: Callable[[], Sequence[KmsProvider]], server: str
    ) -> None:
        self._measures = measures
        self._reloads = reloads
        self._kms = kms
        self._server = _hash(server.encode())
        self._histograms = (
            Histogram.of(
                measures.transformations,
                f"{_STORAGE}transformation_duration_seconds",
                "Time to encrypt and to decrypt a value.",
                ("transformation_type", "transformer_prefix"),
            ),
            Histogram.of(
                measures.seeds, f"{_STORAGE}data_key_generation_duration_seconds", "Time to make a seed for keys.", ()
            ),
            Histogram.of(
                measures.calls,
                f"{_ENVELOPE}kms_operations_latency_seconds",
                "Time that calls of KMS plug-ins took.",
                ("provider_name", "method_name", "grpc_status_code"),
            ),
        )

    def collect(self) -> Iterable[Metric]:
        """All families; may be called from another thread."""
        for histogram in self._histograms:
            yield from histogram.collect()
        operations = Counter(
            f"{_STORAGE}transformation_operations_total",
            "Values that were encrypted and decrypted, or could not be.",
            ("resource", "transformation_type", "transformer_prefix", "status"),
        )
        operations.counts = {**self._measures.operations}
        yield from operations.collect()
        yield from self._of_keys()
        yield from self._of_configurations()

    def _of_keys(self) -> Iterable[Metric]:
        labels = ("transformation_type", "provider_name", "key_id_hash", _SERVER)
        uses = Counter(f"{_ENVELOPE}key_id_hash_total", "Values for which a plug-in's key was used.", labels)
        last = GaugeMetricFamily(f"{_ENVELOPE}key_id_hash_last_timestamp_seconds", "When it was last.", labels=labels)
        for place, (count, at) in list(self._measures.keys.items()):
            uses.add((*place, self._server), count)
            last.add_metric((*place, self._server), at)
        told = GaugeMetricFamily(
            f"{_ENVELOPE}key_id_hash_status_last_timestamp_seconds",
            "When a plug-in said last that it uses a key.",
            labels=labels[1:],
        )
        for key, at in list(self._measures.told_keys.items()):
            told.add_metric((*key, self._server), at)
        wrong = Counter(
            f"{_ENVELOPE}invalid_key_id_from_status_total",
            "Ids of keys that a plug-in said and no key can have.",
            ("provider_name", "error"),
        )
        wrong.counts = {**self._measures.wrong_keys}
        sources = GaugeMetricFamily(
            f"{_ENVELOPE}dek_source_cache_size", "Seeds and keys that are known.", labels=["provider_name"]
        )
        for provider in self._kms():
            sources.add_metric([provider.name], provider.sources_known)
        yield from (*uses.collect(), last, told, *wrong.collect(), sources)

    def _of_configurations(self) -> Iterable[Metric]:
        reloads = self._reloads
        labels = ("status", _SERVER)
        total = Counter(f"{_CONFIGURATION}automatic_reloads_total", "Configurations that came later.", labels)
        last = GaugeMetricFamily(
            f"{_CONFIGURATION}automatic_reload_last_timestamp_seconds", "When one came last.", labels=labels
        )
        for status, count in list(reloads.counts.items()):
            total.add((status, self._server), count)
            last.add_metric((status, self._server), reloads.last[status])
        holds = GaugeMetricFamily(
            f"{_CONFIGURATION}last_config_info", "The configuration that holds.", labels=(_SERVER, "hash")
        )
        holds.add_metric((self._server, _hash(reloads.content)), 1)
        yield from (*total.collect(), last, holds)


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}" if data else ""
