"""`NamespaceCaches`: the caches of a kind in several namespaces, as one `KindCache`."""

import asyncio
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sampan.informer.group import InformerGroup
from sampan.informer.key import split_key
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.caches.cache import InformerCache, StaleCache
from sampan.operator.caches.selection import Selection
from sampan.resource import meta


class NamespaceCaches:
    """Caches of the namespaces of an `InformerGroup`.

    Objects of other namespaces are read from the server; those of a namespace that has left the group do not exist.
    """

    def __init__(
        self,
        group: InformerGroup[Any],
        timeout_s: float,
        *,
        selection: Selection | None = None,
        is_partial: bool = False,
    ) -> None:
        self._group = group
        self._timeout_s = timeout_s
        self._selection = selection
        self.is_partial = is_partial
        self._caches: dict[str, tuple[SharedInformer[Any], InformerCache]] = {}

    @property
    def resource_version(self) -> str:
        """Return nothing: each namespace has its own version."""
        return ""

    def holds(self, namespace: str) -> bool:
        """Return True if reads of a namespace are served here; "" means all namespaces of the group."""
        return not namespace or self._of(namespace) is not None or self._group.has_left(namespace)

    def wrote(self, obj: Any) -> None:
        """Record a write; `obj` is the object in the server's response."""
        cache = self._of(meta(obj).namespace)
        if cache is not None:
            cache.wrote(obj)

    def deleted(self, key: str, response: Any) -> None:
        """Record a deletion request; `response` is the object in the server's response, or None."""
        cache = self._of(split_key(key)[0])
        if cache is not None:
            cache.deleted(key, response)

    def refusals(self, key: str) -> AbstractContextManager[None]:
        """Wrap a write."""
        cache = self._of(split_key(key)[0])
        return nullcontext() if cache is None else cache.refusals(key)

    def is_outdated(self, key: str) -> bool:
        """Return True if the object must be read from the server."""
        cache = self._of(split_key(key)[0])
        return cache is not None and cache.is_outdated(key)

    def outdated(self) -> list[str]:
        """Return the keys of all objects that must be read from the server."""
        return [key for cache in self._all() for key in cache.outdated()]

    def fetched(self, key: str, obj: Any | None) -> None:
        """Record that an object was read from the server; `obj` is None if the object does not exist."""
        cache = self._of(split_key(key)[0])
        if cache is not None:
            cache.fetched(key, obj)

    async def get(self, key: str) -> Ref[Any] | None:
        """Return the object, including this client's own writes; None if it does not exist. Raises `StaleCache`."""
        cache = self._of(split_key(key)[0])
        return None if cache is None else await cache.get(key)

    async def refs(self, namespace: str, selector: str) -> list[Ref[Any]]:
        """Return the objects of a namespace ("" for all), including this client's own writes. Raises `StaleCache`."""
        await self._namespaces_known()
        if namespace:
            cache = self._of(namespace)
            return [] if cache is None else await cache.refs(namespace, selector)
        return [ref for cache in self._all() for ref in await cache.refs("", selector)]

    async def by_index(self, name: str, values: Iterable[str]) -> list[Ref[Any]]:
        """Return the objects that an index has under any of the values, including this client's own writes.

        Raises `StaleCache`, `KeyError`.
        """
        await self._namespaces_known()
        values = list(values)
        if not self._group.namespaces:
            self._group.indexer.by_index(name, "")  # Raises `KeyError` for an unknown index.
        return [ref for cache in self._all() for ref in await cache.by_index(name, values)]

    def _all(self) -> list[InformerCache]:
        return [cache for namespace in self._group.namespaces if (cache := self._of(namespace)) is not None]

    def _of(self, namespace: str) -> InformerCache | None:
        try:
            informer = self._group.in_namespace(namespace)
        except KeyError:
            self._caches.pop(namespace, None)
            return None
        known = self._caches.get(namespace)
        if known is not None and known[0] is informer:
            return known[1]
        cache = InformerCache(
            informer, namespace, self._timeout_s, selection=self._selection, is_partial=self.is_partial
        )
        self._caches[namespace] = (informer, cache)
        return cache

    async def _namespaces_known(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._group.complete()
        except TimeoutError:
            resource = self._group.object_type.info.gvr.group_resource
            text = f"the namespaces of the cache of {resource} are not known after {self._timeout_s:g} s"
            raise StaleCache(text) from None
