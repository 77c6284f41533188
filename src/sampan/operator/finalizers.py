"""Finalizers: an object is not removed before its controller has cleaned up.

    result = await finalizer(networks, network, FINALIZER, Finalizing(apply=make, clean_up=unmake))

Source: controller-runtime pkg/controller/controllerutil (0.24); kube-rs kube-runtime/src/finalizer.rs for the states.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sampan.client.errors import Conflict, NotFound
from sampan.client.patch import MergePatch
from sampan.client.resource_client import ResourceClient
from sampan.client.retry_on_conflict import retry_on_conflict
from sampan.operator.request import Result
from sampan.resource import meta

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finalizing(Generic[T]):
    """What to do with an object that has our finalizer."""

    apply: Callable[[T], Awaitable[Result | None]]
    """The object is to be: make it so. It surely has the finalizer, so nothing that is made here is left behind."""
    clean_up: Callable[[T], Awaitable[Result | None]]
    """The object is to go: undo all. To be repeated until it returns None; a `Result` means: not finished yet."""


def has_finalizer(obj: Any, name: str) -> bool:
    """Whether the finalizer is on the object."""
    return name in meta(obj).finalizers


def is_deleting(obj: Any) -> bool:
    """Whether the deletion of the object has begun."""
    return bool(meta(obj).deletion_timestamp)


def add_finalizer(obj: Any, name: str) -> bool:
    """Put the finalizer on the object, in memory; False when it is there already."""
    if has_finalizer(obj, name):
        return False
    meta(obj).finalizers = [*meta(obj).finalizers, name]
    return True


def remove_finalizer(obj: Any, name: str) -> bool:
    """Take the finalizer off the object, in memory; False when it is not there."""
    if not has_finalizer(obj, name):
        return False
    meta(obj).finalizers = [each for each in meta(obj).finalizers if each != name]
    return True


async def patch_finalizer_in(client: ResourceClient[T], obj: T, name: str) -> T:
    """Put the finalizer on the object at the server; gives the object as it is then.

    Raises `Conflict` when the object has changed since it was read: others' finalizers are never lost.
    """
    if has_finalizer(obj, name):
        return obj
    return await _patch(client, obj, [*meta(obj).finalizers, name])


async def patch_finalizer_out(client: ResourceClient[T], obj: T, name: str) -> T | None:
    """Take the finalizer off the object at the server, as it is there now; None when the object is gone.

    The object may have changed since it was read (cleaning up has written its status): then it is read again.
    """
    latest = obj

    async def attempt() -> T | None:
        nonlocal latest
        try:
            return await _patch(client, latest, [each for each in meta(latest).finalizers if each != name])
        except NotFound:
            return None
        except Conflict:
            latest = await _at_home(client, obj).get(meta(obj).name)
            if meta(latest).uid != meta(obj).uid:
                return None
            if not has_finalizer(latest, name):
                return latest
            raise

    try:
        return await retry_on_conflict(attempt) if has_finalizer(obj, name) else obj
    except NotFound:
        return None


async def finalizer(client: ResourceClient[T], obj: T, name: str, then: Finalizing[T]) -> Result | None:
    """One step for an object that is to have a finalizer.

    | deletion begun | finalizer | what happens |
    |---|---|---|
    | no  | no  | the finalizer is put on, then `apply` |
    | no  | yes | `apply` |
    | yes | yes | `clean_up`; when it returns None the finalizer is taken off |
    | yes | no  | nothing: others hold the object up |

    `apply` follows at once, not at the next event: that event would have the same generation, which a
    `GenerationChanged` predicate drops. Raises what the functions raise, `Conflict`, `ApiError`, `TransportError`.
    """
    if not is_deleting(obj):
        return await then.apply(await patch_finalizer_in(client, obj, name))
    if not has_finalizer(obj, name):
        return None
    result = await then.clean_up(obj)
    if result is None:
        await patch_finalizer_out(client, obj, name)
    return result


async def _patch(client: ResourceClient[T], obj: T, finalizers: list[str]) -> T:
    metadata = meta(obj)
    lock = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
    patch = MergePatch({"metadata": {**lock, "finalizers": finalizers}})
    return await _at_home(client, obj).patch(metadata.name, patch)


def _at_home(client: ResourceClient[T], obj: T) -> ResourceClient[T]:
    return client.in_namespace(meta(obj).namespace) if client.object_type.info.namespaced else client
