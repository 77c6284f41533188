"""Objects as they were: revisions that the server still keeps, read by lists of one object at an exact revision.

A GET cannot be asked for the past; a list can (`resourceVersionMatch=Exact`), and a field selector makes it one object.
An object's resourceVersion is that of its last change, so the list at the revision before shows the state before.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from sampan.cli.objects.targets import Target, TargetError
from sampan.client import Client, Expired, ListOptions
from sampan.resource import Object


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of an object, and the state before it."""

    obj: Object
    before: Object | None = None
    forgotten: bool = False
    """Whether the server does not keep what was before. Otherwise a revision without one made the object."""

    @property
    def number(self) -> str:
        """The resourceVersion."""
        return version_of(self.obj)


async def state_at(client: Client, target: Target, revision: str) -> Object | None:
    """The object as it was at a revision; None: there was none. Raises `Expired` for one no longer kept."""
    options = ListOptions(
        field_selector=f"metadata.name={target.names[0]}",
        resource_version=revision,
        resource_version_match="Exact",
        limit=1,
    )
    found = await target.client(client).list(options)
    return next(iter(found), None)


async def revisions(client: Client, target: Target) -> AsyncGenerator[Revision, None]:
    """The states of an object, the present one first, back to its creation or as far as the server remembers.

    Asks once for each. Raises `NotFound`. Of an object that was deleted and made again: those since then.
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
    """The resourceVersion. Raises `TargetError` where it is no number: such a server cannot be asked for the past."""
    version: str = obj["metadata"]["resourceVersion"]
    if not version.isdecimal():
        raise TargetError(f"the server's resourceVersions are no numbers ({version!r}): its history cannot be read")
    return version
