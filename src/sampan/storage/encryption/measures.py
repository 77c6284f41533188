"""`EncryptionMeasures`: what is measured of encryption at rest, for metrics.

Source: apiserver pkg/storage/value/metrics.go, pkg/storage/value/encrypt/envelope/metrics/metrics.go (1.36).
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from sampan.core.durations import Durations
from sampan.storage.encryption.transformer import ENCRYPTED, TransformError

FROM: Final = "from_storage"
TO: Final = "to_storage"
_NO_CODE: Final = "unknown-non-grpc"
_KMS: Final = b"kms"
_KEYS_MAX: Final = 100


class EncryptionMeasures:
    """One for each server, whatever configurations come. Calls of KMS plug-ins are told from threads, too."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        """`now`: seconds since 1970."""
        self._now = now
        self._lock = threading.Lock()
        self.transformations = Durations([0.000005 * 2**n for n in range(25)])
        """Those that succeeded, by direction and prefix."""
        self.operations: dict[tuple[str, ...], int] = {}
        """By resource, direction, prefix and code."""
        self.calls = Durations([0.0001 * 2**n for n in range(20)])
        """Of KMS plug-ins: by provider, method and code."""
        self.seeds = Durations([0.000005 * 2**n for n in range(14)])
        """How long it took to make seeds."""
        self.keys: dict[tuple[str, str, str], tuple[int, float]] = {}
        """By direction, provider and the hash of the key's id: how often a key was used, and when last."""
        self.told_keys: dict[tuple[str, str], float] = {}
        """By provider and the hash of the key's id: when a plug-in said last that it is the one."""
        self.wrong_keys: dict[tuple[str, ...], int] = {}
        """Ids that no key can have, by provider and what is wrong."""

    def read(self, resource: str, stored: bytes, seconds: float, error: TransformError | None = None) -> None:
        """A value was decrypted, or could not be."""
        self._transformed(resource, FROM, prefixes_of(stored) or ("identity",), seconds, code_of(error))

    def written(self, resource: str, stored: bytes, seconds: float) -> None:
        """A value was encrypted."""
        self._transformed(resource, TO, prefixes_of(stored) or ("",), seconds, code_of(None))

    def not_written(self, resource: str, prefix: str, error: TransformError) -> None:
        """A value could not be encrypted."""
        self._transformed(resource, TO, (prefix,), 0.0, code_of(error))

    def called(self, provider: str, method: str, seconds: float, error: TransformError | None) -> None:
        """A plug-in was asked."""
        with self._lock:
            self.calls.observe((provider, method, code_of(error)), seconds)

    def used(self, direction: str, provider: str, key: str) -> None:
        """A key was used; `key` is the hash of its id."""
        place = (direction, provider, key)
        count, _ = self.keys.get(place, (0, 0.0))
        if not count and len(self.keys) >= _KEYS_MAX:
            del self.keys[next(iter(self.keys))]
        self.keys[place] = (count + 1, self._now())

    def told(self, provider: str, key: str) -> None:
        """A plug-in has said which key it uses."""
        if (provider, key) not in self.told_keys and len(self.told_keys) >= _KEYS_MAX:
            del self.told_keys[next(iter(self.told_keys))]
        self.told_keys[provider, key] = self._now()

    def told_wrongly(self, provider: str, key_id: str) -> None:
        """A plug-in has said the id of a key that no key can have."""
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


def code_of(error: TransformError | None) -> str:
    """How an operation went, as gRPC names it."""
    return "OK" if error is None else error.code or _NO_CODE


def prefixes_of(stored: bytes) -> tuple[str, ...]:
    """Who has written a value: the provider, and its key if it has several. Nobody, if it is as it is."""
    if not stored.startswith(ENCRYPTED):
        return ()
    parts = stored[:1024].split(b":", 5)
    if len(parts) < 6:
        return ("unknown",)
    provider = b":".join(parts[:4]) + b":"
    own = parts[4] + b":"
    found = (provider + own,) if parts[2] == _KMS else (provider, own)
    return tuple(each.decode(errors="replace") for each in found)
