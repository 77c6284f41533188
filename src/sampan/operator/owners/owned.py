"""`ensure_controlled`: creates an object whose name follows from its owner, so that a repetition finds it again.

    claim = await ensure_controlled(claims, backup, {"metadata": {"name": f"backup-{backup.metadata.name}"}, ...})

A reconciler that crashes after the creation, or gets no response, so never makes a second object.
"""

from copy import deepcopy
from typing import Any, Final, TypeVar

from sampan.client.errors import AlreadyExists, NotFound
from sampan.client.resource_client import ResourceClient
from sampan.operator.owners.references import is_controlled_by, set_controller_reference
from sampan.operator.request import RetryLater
from sampan.resource import meta

T = TypeVar("T")

_FOREIGN_S: Final = 10.0
_ENDING_S: Final = 5.0


async def ensure_controlled(client: ResourceClient[T], owner: Any, obj: T, *, field_manager: str = "") -> T:
    """Create an object with `owner` as its controller, unless it exists. Return the object of the server.

    With `field_manager`, it is created and changed by server-side apply; a change takes over all fields of `obj`.
    Without it, the content of an existing object is not compared. The namespace is by default that of the owner.
    Raises `RetryLater` while an object of this name belongs to another owner or is being deleted.
    """
    new = deepcopy(obj)
    metadata = meta(new)
    metadata.namespace = metadata.namespace or meta(owner).namespace
    set_controller_reference(owner, new)
    client = client.in_namespace(metadata.namespace)
    what = f"the {client.object_type.info.kind} {metadata.name}"
    try:
        found = await client.get(metadata.name)
    except NotFound:
        try:
            return await (client.apply(new, field_manager=field_manager) if field_manager else client.create(new))
        except AlreadyExists as error:
            raise RetryLater(f"{what} exists already", after_s=1) from error
    if not is_controlled_by(found, owner):
        raise RetryLater(f"{what} belongs to another object", after_s=_FOREIGN_S)
    if meta(found).deletion_timestamp:
        raise RetryLater(f"{what} is being deleted", after_s=_ENDING_S)
    return await client.apply(new, field_manager=field_manager, force=True) if field_manager else found
