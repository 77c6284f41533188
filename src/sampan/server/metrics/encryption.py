"""`EncryptionMetrics`: encryption and decryption of values, calls to KMS plug-ins, and reloads of the configuration.

Source: apiserver pkg/storage/value/metrics.go, pkg/storage/value/encrypt/envelope/metrics/metrics.go,
pkg/server/options/encryptionconfig/metrics/metrics.go (1.36).
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.core.clock import unix_time
from sampan.server.instruments.histogram import Counter, Histogram
from sampan.storage.encryption.kms.plugin import KmsPlugin
from sampan.storage.encryption.measures import EncryptionMeasures

_STORAGE: Final = "apiserver_storage_"
_ENVELOPE: Final = "apiserver_envelope_encryption_"
_CONFIGURATION: Final = "apiserver_encryption_config_controller_"
_SERVER: Final = "apiserver_id_hash"


class Reloads:
    """Current configuration, and the results of reloads."""

    def __init__(self, content: bytes = b"", now: Callable[[], float] = unix_time) -> None:
        """`content`: the first configuration. `now` returns seconds since 1970."""
        self._now = now
        self.content = content
        self.counts: dict[str, int] = {}
        self.last: dict[str, float] = {}

    def succeeded(self, content: bytes) -> None:
        """Record that a new configuration is in effect."""
        self.content = content
        self._count("success")

    def failed(self) -> None:
        """Record that a new configuration is invalid."""
        self._count("failure")

    def _count(self, status: str) -> None:
        self.counts[status] = self.counts.get(status, 0) + 1
        self.last[status] = self._now()


class EncryptionMetrics:
    """Prometheus collector of encryption at rest. `server` is the name of this server."""

    def __init__(
        self, measures: EncryptionMeasures, reloads: Reloads, kms: Callable[[], Sequence[KmsPlugin]], server: str
    ) -> None:
        self._measures = measures
        self._reloads = reloads
        self._kms = kms
        self._server = _hash(server.encode())
        self._histograms = (
            Histogram.of(
                measures.transformations,
                f"{_STORAGE}transformation_duration_seconds",
                "Duration of the encryption or decryption of a value.",
                ("transformation_type", "transformer_prefix"),
            ),
            Histogram.of(
                measures.seeds,
                f"{_STORAGE}data_key_generation_duration_seconds",
                "Duration of the generation of a key seed.",
                (),
            ),
            Histogram.of(
                measures.calls,
                f"{_ENVELOPE}kms_operations_latency_seconds",
                "Duration of calls to KMS plug-ins.",
                ("provider_name", "method_name", "grpc_status_code"),
            ),
        )

    def collect(self) -> Iterable[Metric]:
        """Yield all metric families. May be called from another thread."""
        for histogram in self._histograms:
            yield from histogram.collect()
        operations = Counter(
            f"{_STORAGE}transformation_operations_total",
            "Encryptions and decryptions, by status.",
            ("resource", "transformation_type", "transformer_prefix", "status"),
        )
        operations.counts = {**self._measures.operations}
        yield from operations.collect()
        yield from self._of_keys()
        yield from self._of_configurations()

    def _of_keys(self) -> Iterable[Metric]:
        labels = ("transformation_type", "provider_name", "key_id_hash", _SERVER)
        uses = Counter(f"{_ENVELOPE}key_id_hash_total", "Uses of a plug-in's key.", labels)
        last = GaugeMetricFamily(
            f"{_ENVELOPE}key_id_hash_last_timestamp_seconds", "Time of the last use of a plug-in's key.", labels=labels
        )
        for place, (count, at) in list(self._measures.keys.items()):
            uses.add((*place, self._server), count)
            last.add_metric((*place, self._server), at)
        reported = GaugeMetricFamily(
            f"{_ENVELOPE}key_id_hash_status_last_timestamp_seconds",
            "Time at which a plug-in last reported a key as current.",
            labels=labels[1:],
        )
        for key, at in list(self._measures.status_keys.items()):
            reported.add_metric((*key, self._server), at)
        wrong = Counter(
            f"{_ENVELOPE}invalid_key_id_from_status_total",
            "Invalid key ids that a plug-in reported.",
            ("provider_name", "error"),
        )
        wrong.counts = {**self._measures.wrong_keys}
        sources = GaugeMetricFamily(
            f"{_ENVELOPE}dek_source_cache_size", "Key seeds and keys in the cache.", labels=["provider_name"]
        )
        for provider in self._kms():
            sources.add_metric([provider.name], provider.sources_cached)
        yield from (*uses.collect(), last, reported, *wrong.collect(), sources)

    def _of_configurations(self) -> Iterable[Metric]:
        reloads = self._reloads
        labels = ("status", _SERVER)
        total = Counter(f"{_CONFIGURATION}automatic_reloads_total", "Reloads of the configuration.", labels)
        last = GaugeMetricFamily(
            f"{_CONFIGURATION}automatic_reload_last_timestamp_seconds",
            "Time of the last reload of the configuration.",
            labels=labels,
        )
        for status, count in list(reloads.counts.items()):
            total.add((status, self._server), count)
            last.add_metric((status, self._server), reloads.last[status])
        current = GaugeMetricFamily(
            f"{_CONFIGURATION}last_config_info", "Hash of the current configuration.", labels=(_SERVER, "hash")
        )
        current.add_metric((self._server, _hash(reloads.content)), 1)
        yield from (*total.collect(), last, current)


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}" if data else ""
