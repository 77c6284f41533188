"""`KindCache`: interface of the caches of one kind."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sampan.informer.ref import Ref


class KindCache(Protocol):
    """Cached objects of one kind, with this client's own writes: a `Cache`, or several as one."""

    is_partial: bool
    """True if a transform has removed fields of the objects."""

    @property
    def resource_version(self) -> str:
        """The resourceVersion that the cache has reached; empty if it has none."""
        ...

    def holds(self, namespace: str) -> bool:
        """Return True if the cache contains the objects of a namespace ("" for all)."""
        ...

    def wrote(self, obj: Any) -> None:
        """Record a write; `obj` is the object in the server's response."""
        ...

    def deleted(self, key: str, response: Any) -> None:
        """Record a deletion request; `response` is the object in the server's response, or None."""
        ...

    def refusals(self, key: str) -> AbstractContextManager[None]:
        """Wrap a write of an object."""
        ...

    def is_outdated(self, key: str) -> bool:
        """Return True if the object must be read from the server."""
        ...

    def outdated(self) -> list[str]:
        """Return the keys of all objects that must be read from the server before a list."""
        ...

    def fetched(self, key: str, obj: Any | None) -> None:
        """Record that an object was read from the server; `obj` is None if the object does not exist."""
        ...

    async def get(self, key: str) -> Ref[Any] | None:
        """Return the object, or None. Raises `StaleCache`."""
        ...

    async def refs(self, namespace: str, selector: str) -> list[Ref[Any]]:
        """Return the objects of a namespace ("" for all). Raises `StaleCache`."""
        ...

    async def by_index(self, name: str, values: Iterable[str]) -> list[Ref[Any]]:
        """Return the objects that an index has under any of the values. Raises `StaleCache`, `KeyError`."""
        ...
