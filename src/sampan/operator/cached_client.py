"""`CachedClient`: a client that reads from informers and writes to the server, and reads its own writes.

Only kinds that somebody watches are read from a cache: to ask for any other kind asks the server, and never starts an
informer of the whole cluster by the way.

Guarantees: a read sees every write that was made through the same `CachedClient` and had returned before. It waits for
the cache if need be, as a rule some milliseconds. Writes of other clients are seen when the cache has them; `direct`
asks the server. A write that the server refuses because the object has changed, exists already or exists no more shows
that the cache is behind: the next read of that object asks the server.
Source: controller-runtime pkg/client/client.go (0.24), designs on read-your-own-writes (#3320).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, overload

from sampan.client.client import Client
from sampan.client.endpoint import Endpoint, names_of
from sampan.client.errors import NotFound, api_error
from sampan.client.object_list import ObjectList
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.pager import PAGE_SIZE
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.subresource_client import SubresourceClient
from sampan.core.errors import not_found
from sampan.informer.key import join_key, split_key
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.cache import Cache
from sampan.operator.request import Request
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic, object_type

T = TypeVar("T")

Caches = Mapping[ResourceInfo, Cache]


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

    def with_timeout(self, request_timeout_s: float) -> "CachedResourceClient[T]":
        """The same client with another limit for the server's answers; `math.inf` for no limit."""
        return CachedResourceClient(self._endpoint.with_timeout(request_timeout_s), self.object_type, self._caches)

    async def get(self, name: str, *, resource_version: str | None = None) -> T:
        """One object, from the cache. Raises `NotFound`, `StaleCache`."""
        cache = self._cache
        if cache is None or resource_version is not None:
            return await super().get(name, resource_version=resource_version)
        self._endpoint.path_of(name)  # Refuses what the server could not be asked either.
        key = join_key(self.namespace, name)
        if cache.is_outdated(key):
            return await self._fetch(cache, key)
        ref = await cache.get(key)
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
        await self._fetch_outdated(cache)
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
        await self._fetch_outdated(cache)
        return [self.object_type.decode(ref.raw) for ref in await cache.by_index(name, values)]

    async def create(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Create an object. Raises `AlreadyExists`, `Invalid`."""
        with self._refusals(obj):
            return self._wrote(await super().create(obj, options))

    async def patch(
        self, name: str, patch: Patch, options: WriteOptions = WriteOptions(), *, subresource: str = ""
    ) -> T:
        """Change an object. Raises `NotFound`, `Conflict`, `Invalid`."""
        with self._refusals(name):
            return self._wrote(await super().patch(name, patch, options, subresource=subresource))

    async def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Server-side apply. Raises `Conflict`."""
        with self._refusals(obj):
            applied = await super().apply(obj, field_manager=field_manager, force=force, subresource=subresource)
            return self._wrote(applied)

    async def update(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object. Raises `Conflict`."""
        with self._refusals(obj):
            return self._wrote(await super().update(obj, options))

    async def update_status(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object's status. Raises `Conflict`."""
        with self._refusals(obj):
            return self._wrote(await super().update_status(obj, options))

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Ask for an object's end. Raises `NotFound`, `Conflict`."""
        key = join_key(self.namespace, name)
        try:
            with self._refusals(name):
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
        return _StatusClient(self._endpoint, self.object_type, self._wrote, self._refusals)

    @property
    def _cache(self) -> Cache | None:
        """What has these objects, if anything has; it may come later than this client."""
        cache = self._caches.get(self.object_type.info)
        return cache if cache is not None and cache.holds(self.namespace) else None

    async def _fetch(self, cache: Cache, key: str) -> T:
        """Read an object from the server, and let later reads of the cache wait for what was read."""
        namespace, name = split_key(key)
        try:
            obj = await ResourceClient.get(self.in_namespace(namespace), name)
        except NotFound:
            cache.fetched(key, None)
            raise
        cache.fetched(key, obj)
        return obj

    async def _fetch_outdated(self, cache: Cache) -> None:
        for key in cache.outdated():
            try:
                await self._fetch(cache, key)
            except NotFound:
                continue

    def _refusals(self, written: T | Object | str) -> AbstractContextManager[None]:
        """Around a write of an object, or of the one of this name."""
        cache = self._caches.get(self.object_type.info)
        if isinstance(written, str):
            namespace, name = self.namespace, written
        else:
            namespace, name = self._endpoint.namespace_of(written), names_of(written)[1]
        if cache is None or not name or not cache.holds(namespace):
            return nullcontext()
        return cache.refusals(join_key(namespace, name))

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
    def __init__(
        self,
        endpoint: Endpoint,
        object_type: ObjectType[T],
        wrote: Callable[[T], T],
        refusals: Callable[[T | Object | str], AbstractContextManager[None]],
    ) -> None:
        super().__init__(endpoint, "status", object_type)
        self._wrote = wrote
        self._refusals = refusals

    async def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        with self._refusals(name):
            return self._wrote(await super().update(name, obj, options))

    async def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        with self._refusals(name):
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
