"""`Recent`: cache of recently used values, limited by number and by time."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sampan.core.clock import monotonic

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Cache of values by key.

    It has two generations. When the young generation is full or older than `age_s` seconds, it replaces the old one. So
    a value stays for at least `age_s` seconds after its last use, unless more than `entries_max` other values are used.
    Memory use falls again after a busy time.
    """

    def __init__(self, entries_max: int, age_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._entries_max = entries_max
        self._age_s = age_s
        self._clock = clock
        self._turned = clock()
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: K) -> V | None:
        """Return the value and mark it as used; None if it is not cached."""
        value = self._young.get(key)
        if value is None and self._old:
            value = self._old.pop(key, None)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Add a value."""
        now = self._clock()
        if len(self._young) >= self._entries_max or now - self._turned > self._age_s:
            self._old, self._young = self._young, {}
            self._turned = now
        self._young[key] = value

    def clear(self) -> None:
        """Remove all values."""
        self._young = {}
        self._old = {}
