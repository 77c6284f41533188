"""`Lister`: reading from a store by name, by namespace, by labels; decoded, so that what is got may be changed.

Source: client-go tools/cache/listers.go (1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from sampan.core.selectors import Selector, parse_labels
from sampan.informer.indexer import NAMESPACE_INDEX
from sampan.informer.key import join_key
from sampan.informer.ref import Ref

T = TypeVar("T")


class ReadableStore(Protocol[T]):
    """What a lister reads: an `Indexer`, or several as one."""

    def get(self, key: str) -> Ref[T] | None:
        """The object with this key."""
        ...

    def refs(self) -> list[Ref[T]]:
        """All objects."""
        ...

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """The objects that an index has under a value."""
        ...


class Lister(Generic[T]):
    """Reads a store. Never asks the server; None and empty lists mean: not known here (yet)."""

    def __init__(self, store: ReadableStore[T]) -> None:
        self._store = store

    def get(self, key: str) -> T | None:
        """The object with this key (`namespace/name`, or `name`)."""
        ref = self._store.get(key)
        return None if ref is None else ref.decode()

    def list(self, selector: str | Selector = "") -> list[T]:
        """The objects whose labels fit, in no order. Raises `ValueError` for a selector that cannot be read."""
        return [ref.decode() for ref in self.refs(selector)]

    def refs(self, selector: str | Selector = "") -> Sequence[Ref[T]]:
        """The same, not decoded."""
        return _selected(self._store.refs(), selector)

    def by_index(self, name: str, value: str) -> Sequence[T]:
        """The objects that an index has under a value. Raises `KeyError` when there is no such index."""
        return [ref.decode() for ref in self._store.by_index(name, value)]

    def namespaced(self, namespace: str) -> "NamespaceLister[T]":
        """The same for one namespace."""
        return NamespaceLister(self._store, namespace)


class NamespaceLister(Generic[T]):
    """Reads one namespace of a store."""

    def __init__(self, store: ReadableStore[T], namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def get(self, name: str) -> T | None:
        """The object with this name."""
        ref = self._store.get(join_key(self._namespace, name))
        return None if ref is None else ref.decode()

    def list(self, selector: str | Selector = "") -> list[T]:
        """The objects whose labels fit, in no order. Raises `ValueError` for a selector that cannot be read."""
        return [ref.decode() for ref in self.refs(selector)]

    def refs(self, selector: str | Selector = "") -> Sequence[Ref[T]]:
        """The same, not decoded."""
        return _selected(self._store.by_index(NAMESPACE_INDEX, self._namespace), selector)


def _selected(refs: Iterable[Ref[T]], selector: str | Selector) -> list[Ref[T]]:
    chosen = parse_labels(selector) if isinstance(selector, str) else selector
    if chosen.empty:
        return list(refs)
    return [ref for ref in refs if chosen.matches(ref.labels)]
