"""`BlockingResourceClient`: a blocking `ResourceClient`. The docstrings of `ResourceClient` also apply here."""

from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from sampan.client.apply_diff import ApplyDiff
from sampan.client.blocking.loop_thread import LoopThread
from sampan.client.conditions import Condition
from sampan.client.create_or_update import Mutate, OperationResult, create_or_patch, create_or_update
from sampan.client.objects.object_list import ObjectList
from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.client.objects.scale import Scale
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.subresource_client import SubresourceClient
from sampan.client.wait import wait_for
from sampan.client.watching.pager import PAGE_SIZE
from sampan.client.watching.watch import WatchEvent
from sampan.resource import Object, ObjectType, ResourceInfo

T = TypeVar("T")


class BlockingResourceClient(Generic[T]):
    """Reads and writes the objects of one resource. `asynchronous` does the work."""

    def __init__(self, thread: LoopThread, asynchronous: ResourceClient[T]) -> None:
        self._thread = thread
        self.asynchronous = asynchronous

    @property
    def object_type(self) -> ObjectType[T]:
        """Type that encodes and decodes the objects."""
        return self.asynchronous.object_type

    @property
    def info(self) -> ResourceInfo:
        """Group, version and resource of the objects, their kind, and whether they have namespaces."""
        return self.asynchronous.info

    @property
    def namespace(self) -> str:
        """Namespace of the objects; empty: all namespaces."""
        return self.asynchronous.namespace

    def in_namespace(self, namespace: str) -> "BlockingResourceClient[T]":
        """Return a client for another namespace."""
        return BlockingResourceClient(self._thread, self.asynchronous.in_namespace(namespace))

    def with_timeout(self, request_timeout_s: float) -> "BlockingResourceClient[T]":
        """Return a client with another limit for responses."""
        return BlockingResourceClient(self._thread, self.asynchronous.with_timeout(request_timeout_s))

    def metadata_only(self) -> "BlockingResourceClient[PartialObjectMetadata]":
        """Return a client that transfers only the metadata of the objects."""
        return BlockingResourceClient(self._thread, self.asynchronous.metadata_only())

    def get(self, name: str, *, resource_version: str | None = None) -> T:
        """Return one object."""
        return self._thread.run(self.asynchronous.get(name, resource_version=resource_version))

    def list(self, options: ListOptions = ListOptions()) -> ObjectList[T]:
        """Return one page."""
        return self._thread.run(self.asynchronous.list(options))

    def list_all(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> ObjectList[T]:
        """Return all objects at one revision."""
        return self._thread.run(self.asynchronous.list_all(options, page_size=page_size))

    def items(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> Generator[T, None, None]:
        """Yield the objects one by one."""
        return self._thread.iterate(self.asynchronous.pages(options, page_size=page_size))

    def watch(self, options: ListOptions = ListOptions()) -> Generator[WatchEvent[T], None, None]:
        """Yield the events of one watch."""
        return self._thread.iterate(self.asynchronous.watch_batches(options))

    def follow(self, options: ListOptions = ListOptions()) -> Generator[WatchEvent[T], None, None]:
        """Yield events, and start another watch when one ends."""
        return self._thread.iterate(self.asynchronous.follow_batches(options))

    def create(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Create an object."""
        return self._thread.run(self.asynchronous.create(obj, options))

    def update(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object."""
        return self._thread.run(self.asynchronous.update(obj, options))

    def update_status(self, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace an object's status."""
        return self._thread.run(self.asynchronous.update_status(obj, options))

    def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions(), *, subresource: str = "") -> T:
        """Patch an object."""
        return self._thread.run(self.asynchronous.patch(name, patch, options, subresource=subresource))

    def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Apply an object with server-side apply."""
        return self._thread.run(
            self.asynchronous.apply(obj, field_manager=field_manager, force=force, subresource=subresource)
        )

    def diff(
        self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = ""
    ) -> ApplyDiff:
        """Return what `apply` with these arguments would change."""
        return self._thread.run(
            self.asynchronous.diff(obj, field_manager=field_manager, force=force, subresource=subresource)
        )

    def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Request the deletion of an object."""
        return self._thread.run(self.asynchronous.delete(name, options))

    def delete_collection(
        self, options: DeleteOptions = DeleteOptions(), selection: ListOptions = ListOptions()
    ) -> None:
        """Request the deletion of all objects that match the selection."""
        self._thread.run(self.asynchronous.delete_collection(options, selection))

    def evict(self, name: str, options: DeleteOptions = DeleteOptions()) -> None:
        """Delete a Pod if its disruption budgets allow it."""
        self._thread.run(self.asynchronous.evict(name, options))

    @property
    def status(self) -> "BlockingSubresourceClient[T]":
        """Client of the `status` subresource."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.status)

    @property
    def scale(self) -> "BlockingSubresourceClient[Scale]":
        """Client of the `scale` subresource."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.scale)

    def subresource(self, name: str) -> "BlockingSubresourceClient[Object]":
        """Return the client of another subresource. Its objects are dicts."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.subresource(name))

    def wait_for(self, name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float) -> T | None:
        """Wait for an object as `sampan.client.wait_for` does. A function as condition runs in the client's thread."""
        waiting = wait_for(self.asynchronous, name, condition, timeout_s=timeout_s)
        return self._thread.run(waiting)

    def create_or_update(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        """Create or replace an object like `sampan.client.create_or_update`. `mutate` runs in the client's thread."""
        return self._thread.run(create_or_update(self.asynchronous, name, mutate))

    def create_or_patch(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        """Create or patch an object like `sampan.client.create_or_patch`. `mutate` runs in the client's thread."""
        return self._thread.run(create_or_patch(self.asynchronous, name, mutate))


class BlockingSubresourceClient(Generic[T]):
    """Reads and writes one subresource."""

    def __init__(self, thread: LoopThread, asynchronous: SubresourceClient[T]) -> None:
        self._thread = thread
        self.asynchronous = asynchronous

    def get(self, name: str) -> T:
        """Return the subresource of an object."""
        return self._thread.run(self.asynchronous.get(name))

    def create(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """POST to a subresource that is an action."""
        return self._thread.run(self.asynchronous.create(name, obj, options))

    def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace the subresource of an object."""
        return self._thread.run(self.asynchronous.update(name, obj, options))

    def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        """Patch the subresource of an object."""
        return self._thread.run(self.asynchronous.patch(name, patch, options))
