"""`Recent`: a bounded memory of values that were used lately."""

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Remembers values by key, for what is asked for again and again.

    Bounded by number and by time, with two generations: a young one that is full, or older than `age_s`, becomes the
    old one, and the old one is dropped. So a value stays for at least `age_s` after its last use, unless more than
    `entries_max` others are used, and the memory of a program that once was busy does not stay large.
    """

    def __init__(self, entries_max: int, age_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries_max = entries_max
        self._age_s = age_s
        self._clock = clock
        self._turned = clock()
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: K) -> V | None:
        """Return the value, which counts as used; None if it is not remembered."""
        value = self._young.get(key)
        if value is None and self._old:
            value = self._old.pop(key, None)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Remember a value."""
        now = self._clock()
        if len(self._young) >= self._entries_max or now - self._turned > self._age_s:
            self._old, self._young = self._young, {}
            self._turned = now
        self._young[key] = value

    def clear(self) -> None:
        """Forget all."""
        self._young = {}
        self._old = {}
