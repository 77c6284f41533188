"""`create_or_update`, `create_or_patch`: make an object what it should be, be it there already or not.

    def desired(network: Network | None) -> Network:
        network = network or Network(metadata=ObjectMeta(name="net"), spec=NetworkSpec())
        network.spec.cidr = "10.0.0.0/24"
        return network

    network, result = await create_or_update(networks, "net", desired)

Source: controller-runtime pkg/controller/controllerutil/controllerutil.go (0.24).
"""

import enum
from collections.abc import Callable
from typing import TypeVar

from sampan.client.endpoint import names_of
from sampan.client.errors import AlreadyExists, Conflict, NotFound
from sampan.client.patch import MergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.client.retry_on_conflict import retry_on
from sampan.resource import Object

T = TypeVar("T")
Mutate = Callable[[T | None], T]
"""Gives the object as it should be, from the one that is there (it may be changed in place) or from nothing."""


_OVERTAKEN = (AlreadyExists, Conflict, NotFound)


class OperationResult(enum.StrEnum):
    """What was done."""

    NONE = "unchanged"
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"
    """Besides the object also its status."""
    UPDATED_STATUS_ONLY = "updatedStatusOnly"


async def create_or_update(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    """Create or replace the object; nothing is written when `mutate` changes nothing.

    `mutate` may be called several times: when somebody else creates, changes or deletes the object meanwhile, it is
    read again. What `T` does not know of the object stays.
    A field that `mutate` takes away and the server fills in again by a default makes every call an update.
    The status is not written where it has an endpoint of its own. Raises `ValueError` when `mutate` changes the name.
    """

    async def attempt() -> tuple[T, OperationResult]:
        before, after = await _desired(client, name, mutate)
        if before is None:
            return await client.create(after), OperationResult.CREATED
        if before == client.to_dict(after):
            return after, OperationResult.NONE
        return await client.update(after), OperationResult.UPDATED

    return await retry_on(_OVERTAKEN, attempt)


async def create_or_patch(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    """As `create_or_update`, but only what `mutate` changes is written, also of the status.

    What others write meanwhile, and what `T` does not know of the object, stays. The status of an object that is
    created here is not written: the next call does it.
    """

    async def attempt() -> tuple[T, OperationResult]:
        before, after = await _desired(client, name, mutate)
        if before is None:
            return await client.create(after), OperationResult.CREATED
        return await _patch(client, name, before, after)

    return await retry_on(_OVERTAKEN, attempt)


async def _desired(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[Object | None, T]:
    """The object before, as data, and after."""
    try:
        present = await client.get(name)
    except NotFound:
        before, after = None, mutate(None)
    else:
        before = client.to_dict(present)
        after = mutate(present)
    if names_of(after)[1] != name:
        raise ValueError(f"the object is {name!r}, mutate made {names_of(after)[1]!r} of it")
    return before, after


async def _patch(client: ResourceClient[T], name: str, before: Object, after: T) -> tuple[T, OperationResult]:
    wanted = client.to_dict(after)
    subresources = client.object_type.info.subresources
    status_apart = "status" in subresources or not subresources
    main = dict(merge_patch_between(before, wanted).fields)
    status = {"status": main.pop("status")} if status_apart and "status" in main else {}
    result, found = OperationResult.NONE, after
    if main:
        found = await client.patch(name, MergePatch(main))
        result = OperationResult.UPDATED
    if status:
        found = await client.patch(name, MergePatch(status), subresource="status")
        result = OperationResult.UPDATED_STATUS if main else OperationResult.UPDATED_STATUS_ONLY
    return found, result
