"""`Lister`: reads a store by name, namespace or labels. Objects are decoded copies that the caller may change.

Source: client-go tools/cache/listers.go (1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from sampan.core.selectors import Selector, parse_labels
from sampan.informer.key import join_key
from sampan.informer.ref import Ref
from sampan.informer.store.indexer import NAMESPACE_INDEX

T = TypeVar("T")


class ReadableStore(Protocol[T]):
    """Store that a lister reads: an `Indexer`, or several as one."""

    def get(self, key: str) -> Ref[T] | None:
        """Return the object with this key, or None."""
        ...

    def refs(self) -> list[Ref[T]]:
        """Return all objects."""
        ...

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """Return the objects that an index has under a value."""
        ...


class Lister(Generic[T]):
    """Reads a store, never the server. None and empty lists mean that the store has no such object yet."""

    def __init__(self, store: ReadableStore[T]) -> None:
        self._store = store

    def get(self, key: str) -> T | None:
        """Return the object with this key (`namespace/name`, or `name`), or None."""
        ref = self._store.get(key)
        return None if ref is None else ref.decode()

    def list(self, selector: str | Selector = "") -> list[T]:
        """Return the objects whose labels match, in no order. Raises `ValueError` for an invalid selector."""
        return [ref.decode() for ref in self.refs(selector)]

    def refs(self, selector: str | Selector = "") -> Sequence[Ref[T]]:
        """Return the objects whose labels match, without decoding them."""
        return _selected(self._store.refs(), selector)

    def by_index(self, name: str, value: str) -> Sequence[T]:
        """Return the objects that an index has under a value. Raises `KeyError` for an unknown index."""
        return [ref.decode() for ref in self._store.by_index(name, value)]

    def namespaced(self, namespace: str) -> "NamespaceLister[T]":
        """Return a lister of one namespace."""
        return NamespaceLister(self._store, namespace)


class NamespaceLister(Generic[T]):
    """Reads one namespace of a store."""

    def __init__(self, store: ReadableStore[T], namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def get(self, name: str) -> T | None:
        """Return the object with this name, or None."""
        ref = self._store.get(join_key(self._namespace, name))
        return None if ref is None else ref.decode()

    def list(self, selector: str | Selector = "") -> list[T]:
        """Return the objects whose labels match, in no order. Raises `ValueError` for an invalid selector."""
        return [ref.decode() for ref in self.refs(selector)]

    def refs(self, selector: str | Selector = "") -> Sequence[Ref[T]]:
        """Return the objects whose labels match, without decoding them."""
        return _selected(self._store.by_index(NAMESPACE_INDEX, self._namespace), selector)


def _selected(refs: Iterable[Ref[T]], selector: str | Selector) -> list[Ref[T]]:
    chosen = parse_labels(selector) if isinstance(selector, str) else selector
    if chosen.empty:
        return list(refs)
    return [ref for ref in refs if chosen.matches(ref.labels)]
