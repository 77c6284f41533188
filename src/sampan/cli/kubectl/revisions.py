"""Past states of objects, read with lists of one object at an exact revision.

A GET cannot read the past. A list can (`resourceVersionMatch=Exact`), and a field selector reduces it to one object. An
object's resourceVersion is that of its last change, so a list at the previous revision returns the previous state.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from sampan.cli.objects.targets import ObjectTarget, TargetError
from sampan.client import Client, Expired, ListOptions
from sampan.resource import Object


@dataclass(frozen=True, slots=True)
class Revision:
    """State of an object, and its previous state."""

    obj: Object
    before: Object | None = None
    forgotten: bool = False
    """True if the server no longer has the previous state. If False, and `before` is None, the object was created."""

    @property
    def number(self) -> str:
        """The resourceVersion."""
        return version_of(self.obj)


async def state_at(client: Client, target: ObjectTarget, revision: str) -> Object | None:
    """Return the object at a revision; None if it did not exist. Raises `Expired` if the server no longer has the
    revision.
    """
    options = ListOptions(
        field_selector=f"metadata.name={target.names[0]}",
        resource_version=revision,
        resource_version_match="Exact",
        limit=1,
    )
    found = await target.client(client).list(options)
    return next(iter(found), None)


async def revisions(client: Client, target: ObjectTarget) -> AsyncGenerator[Revision, None]:
    """Yield the states of an object from the current one back to its creation, as far as the server has them.

    Sends one request for each state. Raises `NotFound`. States before a deletion are not included.
    """
    obj = await target.client(client).get(target.names[0])
    while True:
        revision = int(version_of(obj)) - 1
        try:
            before = await state_at(client, target, str(revision)) if revision else None
        except Expired:
            yield Revision(obj, forgotten=True)
            return
        if before is None or before["metadata"].get("uid") != obj["metadata"].get("uid"):
            yield Revision(obj)
            return
        yield Revision(obj, before)
        obj = before


def version_of(obj: Object) -> str:
    """Return the resourceVersion. Raises `TargetError` if it is not a number: its past states are not readable."""
    version: str = obj["metadata"]["resourceVersion"]
    if not version.isdecimal():
        raise TargetError(f"cannot read history: the server's resourceVersion {version!r} is not a number")
    return version
