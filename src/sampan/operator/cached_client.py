"""`CachedClient`: a client that reads from informers and writes to the server, and reads its own writes.

Only kinds that somebody watches are read from a cache: to ask for any other kind asks the server, and never starts an
informer of the whole cluster by the way.

Guarantees: a read sees every write that was made through the same `CachedClient` and had returned before. It waits for
the cache if need be, as a rule some milliseconds. Others' writes are seen when the cache has them; `direct` asks the
server. Source: controller-runtime pkg/client/client.go (0.24), designs on read-your-own-writes (#3320).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar, overload

from sampan.client.client import Client
from sampan.client.endpoint import Endpoint
from sampan.client.errors import NotFound, api_error
from sampan.client.object_list import ObjectList
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.pager import PAGE_SIZE
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.subresource_client import SubresourceClient
from sampan.core.errors import not_found
from sampan.informer.key import join_key
from sampan.informer.lister import Lister
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.version import older
from sampan.operator.request import Request
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic, meta, object_type

T = TypeVar("T")

_WRITES_MAX: Final = 4096
_GONE_MAX: Final = 4096


class StaleCache(TimeoutError):
    """The cache has not come as far as this client's own last write in time."""


class _Write(NamedTuple):
    resource_version: str
    uid: str


class Cache:
    """An informer, and what has been written past it. The memory of writes is bounded: the oldest go first."""

    def __init__(self, informer: SharedInformer[Any], namespace: str, timeout_s: float) -> None:
        self._informer = informer
        self._namespace = namespace
        self._timeout_s = timeout_s
        self._written: OrderedDict[str, _Write] = OrderedDict()
        self._gone: OrderedDict[str, None] = OrderedDict()

    @property
    def resource_version(self) -> str:
        """How far the cache has come."""
        return self._informer.last_resource_version

    def holds(self, namespace: str) -> bool:
        """Whether the objects of a namespace ("" for all) are in it."""
        return self._namespace in ("", namespace)

    def wrote(self, obj: Any) -> None:
        """Something has been written; `obj` is the answer."""
        metadata = meta(obj)
        if not metadata.resource_version:
            return
        key = join_key(metadata.namespace, metadata.name)
        before = self._written.get(key)
        if before is not None and older(metadata.resource_version, before.resource_version):
            return  # Answers of two writes may come in the other order.
        self._written[key] = _Write(metadata.resource_version, metadata.uid)
        self._written.move_to_end(key)
        if len(self._written) > _WRITES_MAX:
            self._written.popitem(last=False)

    def deleted(self, key: str, answer: Any) -> None:
        """A deletion has been asked for."""
        if answer is not None and _stays(answer):
            self.wrote(answer)
            return
        known = self._written.get(key) or self._informer.indexer.get(key)
        uid = meta(answer).uid if answer is not None else known.uid if known else ""
        if uid:
            self._gone[uid] = None
        if len(self._gone) > _GONE_MAX:
            self._gone.popitem(last=False)

    async def get(self, key: str) -> Ref[Any] | None:
        """The object as of now or later. Raises `StaleCache`."""
        await self._reach_own(key)
        if not self._informer.has_synced():
            await self._synced()
        ref = self._informer.indexer.get(key)
        return None if ref is None or ref.uid in self._gone else ref

    async def refs(self, namespace: str, selector: str) -> list[Ref[Any]]:
        """The objects of a namespace ("" for all) as of now or later. Raises `StaleCache`."""
        await self._reach_all()
        lister: Lister[Any] = self._informer.lister()
        found = lister.namespaced(namespace).refs(selector) if namespace else lister.refs(selector)
        return [ref for ref in found if ref.uid not in self._gone]

    async def by_index(self, name: str, values: Iterable[str]) -> list[Ref[Any]]:
        """The objects that an index has under some values, as of now or later. Raises `StaleCache`, `KeyError`."""
        await self._reach_all()
        found = {ref.key: ref for value in values for ref in self._informer.indexer.by_index(name, value)}
        return [ref for ref in found.values() if ref.uid not in self._gone]

    async def _reach_all(self) -> None:
        """Wait until everything is seen that has been written."""
        for key in list(self._written):
            await self._reach_own(key)
        if not self._informer.has_synced():
            await self._synced()

    async def _reach_own(self, key: str) -> None:
        """Wait for the last write of one object. It is forgotten only when it is seen: others may wait for it too."""
        write = self._written.get(key)
        if write is None:
            return
        await self._reach(write.resource_version)
        if self._written.get(key) is write:
            del self._written[key]

    async def _reach(self, resource_version: str) -> None:
        try:
            await self._informer.at_least(resource_version, timeout_s=self._timeout_s)
        except TimeoutError:
            raise self._stale(resource_version) from None

    async def _synced(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._informer.synced()
        except TimeoutError:
            raise self._stale("its first list") from None

    def _stale(self, what: str) -> StaleCache:
        resource = self._informer.object_type.info.gvr.group_resource
        return StaleCache(f"the cache of {resource} has not reached {what} in {self._timeout_s:g} s")


Caches = Mapping[ResourceInfo, Cache]


def _stays(deleted: Any) -> bool:
    """Whether a deletion has only begun: finalizers hold the object up, or it ends gracefully."""
    metadata = meta(deleted)
    return bool(metadata.deletion_timestamp and (metadata.finalizers or metadata.deletion_grace_period_seconds))


class CachedResourceClient(ResourceClient[T]):
    """A resource's client whose `get`, `list` and `list_all` read the cache; all else is as in `ResourceClient`.

    A list with a field selector, a page or a resourceVersion asks the server, and so does a `get` with one.
    """

    def __init__(self, endpoint: Endpoint, object_type: ObjectType[T], caches: Caches) -> None:
        super().__init__(endpoint, object_type)
        self._caches = caches

    def in_namespace(self, namespace: str) -> "CachedResourceClient[T]":
        """The same client in another namespace; "" for all of them."""
        direct = super().in_namespace(namespace)
        return CachedResourceClient(direct._endpoint, self.object_type, self._caches)

    async def get(self, name: str, *, resource_version: str | None = None) -> T:
        """One object, from the cache. Raises `NotFound`, `StaleCache`."""
        cache = self._cache
        if cache is None or resource_version is not None:
            return await super().get(name, resource_version=resource_version)
        self._endpoint.path_of(name)  # Refuses what the server could not be asked either.
        ref = await cache.get(join_key(self.namespace, name))
        if ref is None:
            error = not_found(self.object_type.info.gvr.group_resource, name)
            raise api_error({"reason": error.reason, "code": 404, "message": error.message, "details": error.details})
        return self.object_type.decode(ref.raw)

    async def find(self, request: Request) -> T | None:
        """The object that a reconciler is asked to look at; None when it is gone. Raises `StaleCache`."""
        try:
            return await self.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None

    async def list(self, options: ListOptions = ListOptions()) -> ObjectList[T]:
        """All objects that the label selector takes, from the cache, by namespace and name. Raises `StaleCache`."""
        cache = self._cache
        if cache is None or not _only_labels(options):
            return await super().list(options)
        refs = await cache.refs(self.namespace, options.label_selector)
        refs.sort(key=lambda ref: ref.key)
        return ObjectList([self.object_type.decode(ref.raw) for ref in refs], cache.resource_version)

    async def list_all(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> ObjectList[T]:
        """The same as `list`, from the cache; what the cache cannot answer is read in pages from the server."""
        if self._cache is None or not _only_labels(options):
            return await super().list_all(options, page_size=page_size)
        return await self.list(options)

    async def by_index(self, name: str, *values: str) -> Sequence[T]:
        """The objects that an index of the kind's informer has under any of the values, own writes included.

        In all namespaces, in no order. Raises `StaleCache`; `LookupError` when nobody watches the kind, or there is no
        such index.
        """
        cache = self._cache
        if cache is None:
            raise LookupError(f"nobody watches {self.object_type.info.gvr.group_resource}: it has no indexes")
        return [self.object_type.decode(ref.raw) for ref in await cache.by_index(name, values)]

    async def create(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Create an object. Raises `AlreadyExists`, `Invalid`."""
        return self._wrote(await super().create(obj, options))

    async def patch(
        self, name: str, patch: Patch, options: WriteOptions = WriteOptions(), *, subresource: str = ""
    ) -> T:
        """Change an object. Raises `NotFound`, `Conflict`, `Invalid`."""
        return self._wrote(await super().patch(name, patch, options, subresource=subresource))

    async def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Server-side apply. Raises `Conflict`."""
        applied = await super().apply(obj, field_manager=field_manager, force=force, subresource=subresource)
        return self._wrote(applied)

    async def update(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object. Raises `Conflict`."""
        return self._wrote(await super().update(obj, options))

    async def update_status(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object's status. Raises `Conflict`."""
        return self._wrote(await super().update_status(obj, options))

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Ask for an object's end. Raises `NotFound`, `Conflict`."""
        key = join_key(self.namespace, name)
        try:
            answer = await super().delete(name, options)
        except NotFound:
            self._deleted(key, None)
            raise
        if not (options.dry_run or self._endpoint.write_options.dry_run):
            self._deleted(key, answer)
        return answer

    @property
    def status(self) -> SubresourceClient[T]:
        """The status of objects."""
        return _StatusClient(self._endpoint, self.object_type, self._wrote)

    @property
    def _cache(self) -> Cache | None:
        """What has these objects, if anything has; it may come later than this client."""
        cache = self._caches.get(self.object_type.info)
        return cache if cache is not None and cache.holds(self.namespace) else None

    def _wrote(self, obj: T) -> T:
        cache = self._caches.get(self.object_type.info)
        if cache is not None:
            cache.wrote(obj)
        return obj

    def _deleted(self, key: str, answer: T | None) -> None:
        cache = self._caches.get(self.object_type.info)
        if cache is not None:
            cache.deleted(key, answer)


def _only_labels(options: ListOptions) -> bool:
    return options == ListOptions(label_selector=options.label_selector)


class _StatusClient(SubresourceClient[T]):
    def __init__(self, endpoint: Endpoint, object_type: ObjectType[T], wrote: Callable[[T], T]) -> None:
        super().__init__(endpoint, "status", object_type)
        self._wrote = wrote

    async def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        return self._wrote(await super().update(name, obj, options))

    async def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        return self._wrote(await super().patch(name, patch, options))


class CachedClient:
    """A client whose resources are read from caches, where there are some. Safe to use from many tasks."""

    def __init__(self, direct: Client, *, timeout_s: float = 10.0) -> None:
        """`timeout_s`: the longest that a read waits for the cache."""
        self.direct = direct
        """The client that always asks the server."""
        self._timeout_s = timeout_s
        self._caches: dict[ResourceInfo, Cache] = {}

    def read_from(self, informer: SharedInformer[Any], *, namespace: str = "") -> None:
        """Read a kind from an informer from now on; `namespace` is the informer's, "" for all.

        The informer must have no selectors: what it does not have would be taken for not being there.
        """
        self._caches[informer.object_type.info] = Cache(informer, namespace, self._timeout_s)

    def is_cached(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> bool:
        """Whether a kind is read from a cache."""
        return resource_info(what) in self._caches

    @overload
    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> CachedResourceClient[Object]: ...

    @overload
    def resource(self, what: ObjectType[T], *, namespace: str | None = None) -> CachedResourceClient[T]: ...

    @overload
    def resource(self, what: type[T], *, namespace: str | None = None) -> CachedResourceClient[T]: ...

    def resource(
        self, what: ResourceInfo | ObjectType[Any] | type[Any], *, namespace: str | None = None
    ) -> CachedResourceClient[Any]:
        """The client of a resource, as `Client.resource`; it reads the cache as soon as there is one for the kind."""
        direct: ResourceClient[Any] = self.direct.resource(what, namespace=namespace)
        return CachedResourceClient(direct._endpoint, direct.object_type, self._caches)


def resource_info(what: ResourceInfo | ObjectType[Any] | type[Any]) -> ResourceInfo:
    """The resource that something stands for. Raises `TypeError` for a class that was not declared."""
    if isinstance(what, ResourceInfo):
        return what
    kind: ObjectType[Any] = what if isinstance(what, ObjectType) else object_type(what)
    return kind.info


def declared_type(what: ResourceInfo | ObjectType[Any] | type[Any]) -> ObjectType[Any]:
    """The object type that something stands for; of a `ResourceInfo` that of dicts."""
    if isinstance(what, ResourceInfo):
        return dynamic(what)
    return what if isinstance(what, ObjectType) else object_type(what)
