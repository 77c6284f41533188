"""`Indexer`: the store of an informer, with indexes.

Concurrency: only the informer's task writes. Reads do not wait, so each read sees one state.
Source: client-go tools/cache/thread_safe_store.go, index.go (1.36).
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from sampan.informer.ref import Ref
from sampan.informer.store.index import Index, IndexFunction, Unindexed
from sampan.informer.version import as_number, reached

T = TypeVar("T")

NAMESPACE_INDEX: Final = "namespace"
"""Name of the index by namespace, which every store has."""


def index_by_namespace(ref: Ref[T]) -> Iterable[str]:
    """Return the namespace, if the object has one."""
    namespace = ref.namespace
    return (namespace,) if namespace else ()


class Indexer(Generic[T]):
    """Objects by key and by index. Returned lists belong to the caller; the refs in them are immutable.

    Lookups raise `IndexFailed` while the function of the index raises for an object.
    """

    def __init__(self, indexers: Mapping[str, IndexFunction[T]] | None = None, *, name: str = "") -> None:
        """`name` is that of the resource, for messages."""
        self._name = name
        self._refs: dict[str, Ref[T]] = {}
        self._functions: dict[str, IndexFunction[T]] = {NAMESPACE_INDEX: index_by_namespace, **(indexers or {})}
        self._indexes = {each: self._index(each) for each in self._functions}
        self._resource_version = ""
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._filled = asyncio.Event()
        """Set while the store has objects."""
        self._closed: Exception | None = None

    def __len__(self) -> int:
        return len(self._refs)

    def __contains__(self, key: object) -> bool:
        return key in self._refs

    @property
    def resource_version(self) -> str:
        """Version that the store has certainly reached; empty before the first list."""
        return self._resource_version

    def get(self, key: str) -> Ref[T] | None:
        """Return the object with this key, or None."""
        return self._refs.get(key)

    def keys(self) -> list[str]:
        """Return all keys."""
        return list(self._refs)

    def refs(self) -> list[Ref[T]]:
        """Return all objects."""
        return list(self._refs.values())

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """Return the objects that an index has under a value. Raises `KeyError` for an unknown index."""
        return [self._refs[key] for key in self._indexes[name].keys(value)]

    def index_keys(self, name: str, value: str) -> list[str]:
        """Return the keys that an index has under a value. Raises `KeyError` for an unknown index."""
        return self._indexes[name].keys(value)

    def index_values(self, name: str) -> list[str]:
        """Return all values of an index. Raises `KeyError` for an unknown index."""
        return self._indexes[name].values()

    @property
    def index_names(self) -> frozenset[str]:
        """Names that `by_index` accepts."""
        return frozenset(self._functions)

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        """Add an index and fill it from the store. Raises `ValueError` if the name is in use."""
        if name in self._functions:
            raise ValueError(f"there is an index {name!r} already")
        self._functions[name] = function
        index = self._indexes[name] = self._index(name)
        for ref in self._refs.values():
            index.put(ref)

    @property
    def unindexed(self) -> list[Unindexed[T]]:
        """Objects that an index lacks, because its function raises for them."""
        return [each for index in self._indexes.values() for each in index.failed]

    async def has_objects(self) -> None:
        """Wait until the store has an object."""
        await self._filled.wait()

    async def at_least(self, resource_version: str, *, timeout_s: float | None = None) -> None:
        """Wait until the store has reached a version, for example to read the caller's own write.

        Versions are compared as numbers. If they are not numbers, the store must reach exactly this version. Raises
        `TimeoutError`, and the error of `close` if the store is closed.
        """
        if reached(self._resource_version, resource_version):
            return
        if self._closed is not None:
            raise self._closed
        # One future for each caller, not one condition for all: only callers whose version is reached wake up.
        waiting = (resource_version, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(timeout_s):
                await waiting[1]
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    # Methods for the writing task.

    def add(self, ref: Ref[T], *, ordered: bool = True) -> None:
        """Add or replace an object."""
        self.put(ref)
        if ordered:
            self.bookmark(ref.resource_version)

    def update(self, ref: Ref[T]) -> None:
        """Replace an object."""
        self.add(ref)

    def delete(self, ref: Ref[T]) -> None:
        """Remove an object if it exists."""
        self.remove(ref.key)
        self.bookmark(ref.resource_version)

    def put(self, ref: Ref[T]) -> Ref[T] | None:
        """Add or replace an object without changing the version. Return the replaced state."""
        old = self._refs.get(ref.key)
        self._refs[ref.key] = ref
        self._filled.set()
        for index in self._indexes.values():
            if old is not None:
                index.take(old)
            index.put(ref)
        return old

    def remove(self, key: str) -> Ref[T] | None:
        """Remove and return an object without changing the version."""
        old = self._refs.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.take(old)
        self._mark()
        return old

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """Replace all objects."""
        # New dicts, not changes in place: a reader sees the old list or the new one, never a mixture.
        self._refs = {ref.key: ref for ref in refs}
        for name in self._functions:
            index = self._index(name)
            for ref in self._refs.values():
                index.put(ref)
            self._indexes[name] = index
        self._mark()
        self.bookmark(resource_version)

    def bookmark(self, resource_version: str) -> None:
        """Record that the store has reached this version."""
        self._resource_version = resource_version
        if self._waiting:
            number = as_number(resource_version)
            for desired, future in self._waiting:
                if not future.done() and reached(resource_version, desired, number):
                    future.set_result(None)

    def close(self, error: Exception) -> None:
        """Close the store: current and future waits for a version raise `error`."""
        self._closed = error
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(error)

    async def room(self) -> None:
        """Return at once: the store has no bound."""

    def _index(self, name: str) -> Index[T]:
        return Index(f"{name} of {self._name}" if self._name else name, self._functions[name])

    def _mark(self) -> None:
        if self._refs:
            self._filled.set()
        else:
            self._filled.clear()
