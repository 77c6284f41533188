"""`BlockingResourceClient`: a `ResourceClient` whose calls block; its docstrings hold here too."""

from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from sampan.client.conditions import Condition
from sampan.client.create_or_update import Mutate, OperationResult, create_or_patch, create_or_update
from sampan.client.loop_thread import LoopThread
from sampan.client.object_list import ObjectList
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.pager import PAGE_SIZE
from sampan.client.partial_metadata import PartialObjectMetadata
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.scale import Scale
from sampan.client.subresource_client import SubresourceClient
from sampan.client.wait import wait_for
from sampan.client.watch import WatchEvent
from sampan.resource import Object, ObjectType, ResourceInfo

T = TypeVar("T")


class BlockingResourceClient(Generic[T]):
    """Reads and writes the objects of one resource; `asynchronous` does the work."""

    def __init__(self, thread: LoopThread, asynchronous: ResourceClient[T]) -> None:
        self._thread = thread
        self.asynchronous = asynchronous

    @property
    def object_type(self) -> ObjectType[T]:
        """What the objects look like."""
        return self.asynchronous.object_type

    @property
    def info(self) -> ResourceInfo:
        """The resource."""
        return self.asynchronous.info

    @property
    def namespace(self) -> str:
        """Where it looks; empty: everywhere."""
        return self.asynchronous.namespace

    def in_namespace(self, namespace: str) -> "BlockingResourceClient[T]":
        """The same client in another namespace."""
        return BlockingResourceClient(self._thread, self.asynchronous.in_namespace(namespace))

    def with_timeout(self, request_timeout_s: float) -> "BlockingResourceClient[T]":
        """The same client with another limit for the server's answers."""
        return BlockingResourceClient(self._thread, self.asynchronous.with_timeout(request_timeout_s))

    def metadata_only(self) -> "BlockingResourceClient[PartialObjectMetadata]":
        """The same objects, of which only the metadata travels."""
        return BlockingResourceClient(self._thread, self.asynchronous.metadata_only())

    def get(self, name: str, *, resource_version: str | None = None) -> T:
        """One object."""
        return self._thread.run(self.asynchronous.get(name, resource_version=resource_version))

    def list(self, options: ListOptions = ListOptions()) -> ObjectList[T]:
        """One page."""
        return self._thread.run(self.asynchronous.list(options))

    def list_all(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> ObjectList[T]:
        """All objects of one revision."""
        return self._thread.run(self.asynchronous.list_all(options, page_size=page_size))

    def items(self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE) -> Generator[T, None, None]:
        """Every object, one by one."""
        return self._thread.iterate(self.asynchronous.pages(options, page_size=page_size))

    def watch(self, options: ListOptions = ListOptions()) -> Generator[WatchEvent[T], None, None]:
        """The events of one watch."""
        return self._thread.iterate(self.asynchronous.watch_batches(options))

    def follow(self, options: ListOptions = ListOptions()) -> Generator[WatchEvent[T], None, None]:
        """The events of as many watches as it takes."""
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
        """Change an object."""
        return self._thread.run(self.asynchronous.patch(name, patch, options, subresource=subresource))

    def apply(self, obj: T | Object, *, field_manager: str = "", force: bool = False, subresource: str = "") -> T:
        """Server-side apply."""
        return self._thread.run(
            self.asynchronous.apply(obj, field_manager=field_manager, force=force, subresource=subresource)
        )

    def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | None:
        """Ask for an object's end."""
        return self._thread.run(self.asynchronous.delete(name, options))

    def delete_collection(
        self, options: DeleteOptions = DeleteOptions(), selection: ListOptions = ListOptions()
    ) -> None:
        """Ask for the end of all objects that the selection takes."""
        self._thread.run(self.asynchronous.delete_collection(options, selection))

    def evict(self, name: str, options: DeleteOptions = DeleteOptions()) -> None:
        """Delete a pod, if its disruption budgets allow it."""
        self._thread.run(self.asynchronous.evict(name, options))

    @property
    def status(self) -> "BlockingSubresourceClient[T]":
        """The status of objects."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.status)

    @property
    def scale(self) -> "BlockingSubresourceClient[Scale]":
        """The number of replicas."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.scale)

    def subresource(self, name: str) -> "BlockingSubresourceClient[Object]":
        """Any other, as dicts."""
        return BlockingSubresourceClient(self._thread, self.asynchronous.subresource(name))

    def wait_for(self, name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float) -> T | None:
        """As `sampan.client.wait_for`; a function is called in the client's thread."""
        waiting = wait_for(self.asynchronous, name, condition, timeout_s=timeout_s)
        return self._thread.run(waiting)

    def create_or_update(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        """As `sampan.client.create_or_update`; `mutate` is called in the client's thread."""
        return self._thread.run(create_or_update(self.asynchronous, name, mutate))

    def create_or_patch(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        """As `sampan.client.create_or_patch`; `mutate` is called in the client's thread."""
        return self._thread.run(create_or_patch(self.asynchronous, name, mutate))


class BlockingSubresourceClient(Generic[T]):
    """Reads and writes one subresource."""

    def __init__(self, thread: LoopThread, asynchronous: SubresourceClient[T]) -> None:
        self._thread = thread
        self.asynchronous = asynchronous

    def get(self, name: str) -> T:
        """Read it."""
        return self._thread.run(self.asynchronous.get(name))

    def create(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """POST, where the subresource is an action."""
        return self._thread.run(self.asynchronous.create(name, obj, options))

    def update(self, name: str, obj: T, options: WriteOptions = WriteOptions()) -> T:
        """Replace it."""
        return self._thread.run(self.asynchronous.update(name, obj, options))

    def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> T:
        """Change it."""
        return self._thread.run(self.asynchronous.patch(name, patch, options))
