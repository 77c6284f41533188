"""Past states of objects: from Sampan's history in one request, elsewhere from lists at exact revisions.

A GET cannot read the past. A list can (`resourceVersionMatch=Exact`), and a field selector reduces it to one object. An
object's resourceVersion is that of its last change, so a list at the previous revision returns the previous state.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from sampan.cli.kubectl.server_history import Line, NoHistory, history_lines
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
    deletion: Line | None = None
    """The deletion after this state, as the server returned it; it is then the only event of this value."""

    @property
    def number(self) -> str:
        """The resourceVersion of the state, or of its deletion."""
        return version_of(self.obj) if self.deletion is None else str(self.deletion["resourceVersion"])


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
    """Yield the states of an object from the newest one back to its creation, as far as the server has them.

    Raises `NotFound`. States before a deletion are not included, unless the object is deleted now.
    """
    try:
        async with aclosing(history_lines(client, target, "revisions")) as lines:
            async for revision in _paired(lines):
                yield revision
    except NoHistory:
        async with aclosing(listed_revisions(client, target)) as found:
            async for revision in found:
                yield revision


async def _paired(lines: AsyncIterator[Line]) -> AsyncGenerator[Revision, None]:
    """Yield each state with the one before it, which is in the next line."""
    obj: Object | None = None
    async for line in lines:
        if line["type"] == "DELETED":
            yield Revision(_readable(line), deletion=line)
        elif line["type"] == "END":
            if obj is not None:
                yield Revision(obj, forgotten=line["reason"] != "Created")
        else:
            before = _readable(line)
            if obj is not None:
                yield Revision(obj, before)
            obj = before


def _readable(line: Line) -> Object:
    obj: Object | None = line["object"]
    if obj is None:
        raise TargetError(f"the server cannot read revision {line['resourceVersion']}: {line.get('error', '')}")
    return obj


async def listed_revisions(client: Client, target: ObjectTarget) -> AsyncGenerator[Revision, None]:
    """Yield what `revisions` does, with one list for each state. Any Kubernetes supports this, for existing objects."""
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
