"""`EncryptionMeasures`: counters of encryption at rest, for metrics.

Source: apiserver pkg/storage/value/metrics.go, pkg/storage/value/encrypt/envelope/metrics/metrics.go (1.36).
"""

import threading
from collections.abc import Callable
from typing import Final

from sampan.core.clock import unix_time
from sampan.core.telemetry.durations import Durations
from sampan.storage.encryption.transformer import ENCRYPTED, EncryptionError

FROM: Final = "from_storage"
TO: Final = "to_storage"
_NO_CODE: Final = "unknown-non-grpc"
_KMS: Final = b"kms"
_KEYS_MAX: Final = 100


class EncryptionMeasures:
    """Counters of one server, across configurations. Calls of KMS plug-ins are counted from threads too."""

    def __init__(self, now: Callable[[], float] = unix_time) -> None:
        """`now` returns seconds since 1970."""
        self._now = now
        self._lock = threading.Lock()
        self.transformations = Durations([0.000005 * 2**n for n in range(25)])
        """Durations of successful transformations in seconds, by direction and prefix."""
        self.operations: dict[tuple[str, ...], int] = {}
        """Transformations, by resource, direction, prefix and code."""
        self.calls = Durations([0.0001 * 2**n for n in range(20)])
        """Durations of calls to KMS plug-ins in seconds, by provider, method and code."""
        self.seeds = Durations([0.000005 * 2**n for n in range(14)])
        """Durations of making seeds, in seconds."""
        self.keys: dict[tuple[str, str, str], tuple[int, float]] = {}
        """Number of uses of each key and time of the last one, in seconds since 1970.

        Grouped by direction, provider and hash of the key's id.
        """
        self.status_keys: dict[tuple[str, str], float] = {}
        """Time in seconds since 1970 at which a plug-in last reported a key, by provider and hash of the key's id."""
        self.wrong_keys: dict[tuple[str, ...], int] = {}
        """Invalid key ids, by provider and fault."""

    def read(self, resource: str, stored: bytes, seconds: float, error: EncryptionError | None = None) -> None:
        """Count a decryption, successful or not."""
        self._transformed(resource, FROM, prefixes_of(stored) or ("identity",), seconds, code_of(error))

    def written(self, resource: str, stored: bytes, seconds: float) -> None:
        """Count an encryption."""
        self._transformed(resource, TO, prefixes_of(stored) or ("",), seconds, code_of(None))

    def not_written(self, resource: str, prefix: str, error: EncryptionError) -> None:
        """Count a failed encryption."""
        self._transformed(resource, TO, (prefix,), 0.0, code_of(error))

    def called(self, provider: str, method: str, seconds: float, error: EncryptionError | None) -> None:
        """Count a call to a plug-in."""
        with self._lock:
            self.calls.observe((provider, method, code_of(error)), seconds)

    def used(self, direction: str, provider: str, key: str) -> None:
        """Count the use of a key. `key` is the hash of its id."""
        place = (direction, provider, key)
        count, _ = self.keys.get(place, (0, 0.0))
        if not count and len(self.keys) >= _KEYS_MAX:
            del self.keys[next(iter(self.keys))]
        self.keys[place] = (count + 1, self._now())

    def status_key(self, provider: str, key: str) -> None:
        """Record the key in a plug-in's status."""
        if (provider, key) not in self.status_keys and len(self.status_keys) >= _KEYS_MAX:
            del self.status_keys[next(iter(self.status_keys))]
        self.status_keys[provider, key] = self._now()

    def status_key_invalid(self, provider: str, key_id: str) -> None:
        """Count an invalid key id in a plug-in's status."""
        place = (provider, "too_long" if key_id else "empty")
        self.wrong_keys[place] = self.wrong_keys.get(place, 0) + 1

    def _transformed(
        self, resource: str, direction: str, prefixes: tuple[str, ...], seconds: float, code: str
    ) -> None:  # fmt: skip
        for prefix in prefixes:
            key = (resource, direction, prefix, code)
            self.operations[key] = self.operations.get(key, 0) + 1
            if code == "OK":
                self.transformations.observe((direction, prefix), seconds)


def code_of(error: EncryptionError | None) -> str:
    """Return the result of an operation as a gRPC code."""
    return "OK" if error is None else error.code or _NO_CODE


def prefixes_of(stored: bytes) -> tuple[str, ...]:
    """Return the prefixes that identify the provider of a stored value, and its key if any. Empty if unencrypted."""
    if not stored.startswith(ENCRYPTED):
        return ()
    parts = stored[:1024].split(b":", 5)
    if len(parts) < 6:
        return ("unknown",)
    provider = b":".join(parts[:4]) + b":"
    own = parts[4] + b":"
    found = (provider + own,) if parts[2] == _KMS else (provider, own)
    return tuple(each.decode(errors="replace") for each in found)
