"""Finalizers: the server keeps a deleted object until its controller has cleaned up.

    result = await finalizer(networks, network, FINALIZER, Finalizing(apply=make, clean_up=unmake))

Source: controller-runtime pkg/controller/controllerutil (0.24); kube-rs kube-runtime/src/finalizer.rs for the states.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sampan.client.errors import Conflict, NotFound
from sampan.client.patch import MergePatch
from sampan.client.resource_client import ResourceClient
from sampan.client.retries.on_conflict import retry_on_conflict
from sampan.operator.request import Result
from sampan.resource import meta

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finalizing(Generic[T]):
    """Actions for an object with a finalizer of this operator."""

    apply: Callable[[T], Awaitable[Result | None]]
    """Create or update what the object describes. The object has the finalizer, so everything created here is cleaned
    up.
    """
    clean_up: Callable[[T], Awaitable[Result | None]]
    """Delete everything that `apply` created.

    It is called again until it returns None; a `Result` means that it is not finished.
    """


def has_finalizer(obj: Any, name: str) -> bool:
    """Return True if the object has the finalizer."""
    return name in meta(obj).finalizers


def is_deleting(obj: Any) -> bool:
    """Return True if the deletion of the object has started."""
    return bool(meta(obj).deletion_timestamp)


def add_finalizer(obj: Any, name: str) -> bool:
    """Add the finalizer to the object in memory. Return False if the object already had it."""
    if has_finalizer(obj, name):
        return False
    meta(obj).finalizers = [*meta(obj).finalizers, name]
    return True


def remove_finalizer(obj: Any, name: str) -> bool:
    """Remove the finalizer from the object in memory. Return False if the object did not have it."""
    if not has_finalizer(obj, name):
        return False
    meta(obj).finalizers = [each for each in meta(obj).finalizers if each != name]
    return True


async def patch_finalizer_in(client: ResourceClient[T], obj: T, name: str) -> T:
    """Add the finalizer on the server, and return the updated object.

    Raises `Conflict` if the object has changed since it was read, so that finalizers of other controllers are never
    lost.
    """
    if has_finalizer(obj, name):
        return obj
    return await _patch(client, obj, [*meta(obj).finalizers, name])


async def patch_finalizer_out(client: ResourceClient[T], obj: T, name: str) -> T | None:
    """Remove the finalizer on the server, from the current state. Return None if the object no longer exists.

    If the object has changed since it was read, for example by a status update, it is read again.
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
    """Run one step for an object that should have a finalizer.

    | deletion started | finalizer | action |
    |---|---|---|
    | no  | no  | add the finalizer, then `apply` |
    | no  | yes | `apply` |
    | yes | yes | `clean_up`; when it returns None, remove the finalizer |
    | yes | no  | nothing: only finalizers of other controllers are left |

    `apply` runs immediately, not after the next event: that event would have the same generation, so a
    `GenerationChanged` predicate would drop it. Raises `Conflict`, `ApiError`, `TransportError` and the errors of
    `apply` and `clean_up`.
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
