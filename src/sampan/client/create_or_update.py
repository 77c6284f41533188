"""`create_or_update`, `create_or_patch`: bring an object to its desired state, whether or not it exists.

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

from sampan.client.errors import AlreadyExists, Conflict, NotFound
from sampan.client.patch import MergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.client.resource_endpoint import names_of
from sampan.client.retries.on_conflict import retry_on
from sampan.core.json.values import same
from sampan.resource import Object

T = TypeVar("T")
Mutate = Callable[[T | None], T]
"""Function that returns the desired object. Its argument is the current object, which it may change in place, or None.
"""


_OVERTAKEN = (AlreadyExists, Conflict, NotFound)


class OperationResult(enum.StrEnum):
    """Outcome of a call."""

    NONE = "unchanged"
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"
    """The object and also its status."""
    UPDATED_STATUS_ONLY = "updatedStatusOnly"


async def create_or_update(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    """Create or replace the object. Nothing is written if `mutate` changes nothing.

    `mutate` may be called several times: after a conflict with another client, the object is read and mutated again.
    Fields that `T` does not declare are kept.

    If `mutate` removes a field that the server defaults, every call is an update. The status is not written if it is a
    subresource. Raises `ValueError` if `mutate` changes the name.
    """

    async def attempt() -> tuple[T, OperationResult]:
        before, after = await _desired(client, name, mutate)
        if before is None:
            return await client.create(after), OperationResult.CREATED
        if same(before, client.to_dict(after)):
            return after, OperationResult.NONE
        return await client.update(after), OperationResult.UPDATED

    return await retry_on(_OVERTAKEN, attempt)


async def create_or_patch(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    """Create the object or patch only the fields that `mutate` changes, including those of its status.

    Concurrent changes by other clients, and fields that `T` does not declare, are kept. The status of an object that
    this call creates is not written; the next call writes it.
    """

    async def attempt() -> tuple[T, OperationResult]:
        before, after = await _desired(client, name, mutate)
        if before is None:
            return await client.create(after), OperationResult.CREATED
        return await _patch(client, name, before, after)

    return await retry_on(_OVERTAKEN, attempt)


async def _desired(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[Object | None, T]:
    """Return the current object as data (None if it does not exist), and the desired object."""
    try:
        present = await client.get(name)
    except NotFound:
        before, after = None, mutate(None)
    else:
        before = client.to_dict(present)
        after = mutate(present)
    if names_of(after)[1] != name:
        raise ValueError(f"mutate must not rename the object from {name!r} to {names_of(after)[1]!r}")
    return before, after


async def _patch(client: ResourceClient[T], name: str, before: Object, after: T) -> tuple[T, OperationResult]:
    modified = client.to_dict(after)
    subresources = client.object_type.info.subresources
    status_apart = "status" in subresources or not subresources
    main = dict(merge_patch_between(before, modified).fields)
    status = {"status": main.pop("status")} if status_apart and "status" in main else {}
    result, found = OperationResult.NONE, after
    if main:
        found = await client.patch(name, MergePatch(main))
        result = OperationResult.UPDATED
    if status:
        found = await client.patch(name, MergePatch(status), subresource="status")
        result = OperationResult.UPDATED_STATUS if main else OperationResult.UPDATED_STATUS_ONLY
    return found, result
