"""`Index`: keys of objects by the values that a function returns for each."""

import datetime as dt
import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from sampan.core.clock import utc_now
from sampan.core.user_code import report_caught
from sampan.informer.ref import Ref

T = TypeVar("T")

_log = logging.getLogger("sampan.informer")

IndexFunction = Callable[[Ref[T]], Iterable[str]]
"""Returns the values under which an object is indexed: none, one or many. Must depend only on the object."""
_NAMED_MAX: Final = 3


class IndexFailed(RuntimeError):
    """The function of an index raised for an object. A lookup would lack the object, so it fails until that ends."""


@dataclass(slots=True)
class Unindexed(Generic[T]):
    """An object that an index lacks."""

    index: str
    """Name of the index and the resource: `crew of boats.example.com`."""
    ref: Ref[T]
    error: Exception
    """Last error of the function."""
    since: dt.datetime
    """Time of the first error."""
    last: dt.datetime
    tries: int = 1


class Index(Generic[T]):
    """One index of a store.

    A function that raises does not break the store. Each lookup tries it again, and raises `IndexFailed` while it
    fails: the reconcile or the event that needs the lookup is then tried again too.
    """

    def __init__(self, name: str, function: IndexFunction[T]) -> None:
        self.name = name
        self._function = function
        self._keys: dict[str, dict[str, None]] = {}
        """Keys of each value, in the order of arrival."""
        self._failed: dict[str, Unindexed[T]] = {}

    @property
    def failed(self) -> Collection[Unindexed[T]]:
        """Objects that are not indexed, because the function raises for them."""
        return self._failed.values()

    def keys(self, value: str) -> list[str]:
        """Return the keys under a value. Raises `IndexFailed`."""
        self._check()
        return list(self._keys.get(value, ()))

    def values(self) -> list[str]:
        """Return all values. Raises `IndexFailed`."""
        self._check()
        return list(self._keys)

    def put(self, ref: Ref[T]) -> None:
        """Add an object."""
        try:
            # `tuple` runs a generator here, inside the `try`.
            values = tuple(self._function(ref))
        except Exception as error:
            self._fail(ref, error)
            return
        if self._failed:
            self._failed.pop(ref.key, None)
        for value in values:
            keys = self._keys.get(value)
            if keys is None:
                self._keys[value] = {ref.key: None}
            else:
                keys[ref.key] = None

    def take(self, ref: Ref[T]) -> None:
        """Remove an object."""
        # The function runs on the old state, because the values under which it was filed are not stored.
        if self._failed and self._failed.pop(ref.key, None) is not None:
            return
        try:
            values = list(self._function(ref))
        except Exception:
            # It has not raised for this state before, so the object is anywhere.
            values = [value for value, keys in self._keys.items() if ref.key in keys]
        for value in values:
            keys = self._keys.get(value)
            if keys is not None:
                keys.pop(ref.key, None)
                # Empty values are removed, or an index on a frequently changing field would grow without end.
                if not keys:
                    del self._keys[value]

    def _fail(self, ref: Ref[T], error: Exception) -> None:
        known, now = self._failed.get(ref.key), utc_now()
        if known is None:
            _log.exception("index %s: the function failed for %s, which is not indexed", self.name, ref.key)
            self._failed[ref.key] = Unindexed(self.name, ref, error, now, now)
        else:
            known.ref, known.error, known.last, known.tries = ref, error, now, known.tries + 1
        report_caught(f"index {self.name} for {ref.key}", error)

    def _check(self) -> None:
        if not self._failed:
            return
        for each in list(self._failed.values()):
            self.put(each.ref)
        if self._failed:
            named = [f"{key}: {type(each.error).__name__}: {each.error}" for key, each in self._failed.items()]
            more = f" and {len(named) - _NAMED_MAX} more" if len(named) > _NAMED_MAX else ""
            raise IndexFailed(f"index {self.name} lacks {', '.join(named[:_NAMED_MAX])}{more}")
