"""Writes of the server without a client request: no admission, no defaults and no tracked fields.

They run a subset of the steps of a request (see `steps.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from sampan.core.event_loop.offload import offloaded
from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context
from sampan.registry.write.runner import run
from sampan.registry.write.write import Change, DeletionOptions, Part, Write, WriteKind

Edit = Callable[[Object, Object], Object | None]
"""Changes an object. The first argument is a private copy of the stored object; the second is the stored object, read
only.

Returns the desired object; None: use the changed copy. After a conflict it is called again with the newer object. If
the current task does large work, it runs in a thread (`core/event_loop/offload.py`).
"""


class _New(Change):
    """An object to create."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj

    async def make(self, write: Write) -> Object:
        """Return the object."""
        return self._obj


class _Edited(Change):
    """The stored object after an `Edit`."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit

    async def make(self, write: Write) -> Object:
        """Return the edited copy."""
        return await offloaded(self._made, write)

    def _made(self, write: Write) -> Object:
        copy = write.copy_of_old()
        edited = self._edit(copy, write.present)
        return copy if edited is None else edited


async def create(store: ResourceStore, ctx: Context, obj: Object, clock: Clock) -> bytes:
    """Store a new object and return its bytes in the storage version. Changes `obj`.

    Raises `StatusError`: 409 when the name is taken, 422 when the object is invalid.
    """
    return (await run(Write(WriteKind.OWN_CREATE, store, ctx, clock, change=_New(obj)))).result


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateOptions:
    """Conditions and exceptions for a write of the server itself."""

    part: Part = Part.MAIN
    dry_run: bool = False
    uid: str = ""
    """Required uid of the stored object; "": any uid is accepted."""
    faults: Callable[[Object, Object], list[FieldError]] | None = None
    """Function that replaces the strategy's validation."""
    keeps_managed_fields: bool = False
    """Do not drop managedFields to make a too large object fit; fail with 413 instead."""


_DEFAULT = UpdateOptions()


async def update(
    store: ResourceStore, ctx: Context, edit: Edit, clock: Clock, options: UpdateOptions = _DEFAULT
) -> bytes:
    """Change the object that `ctx` names; return its bytes in the storage version.

    Raises `StatusError`: 404, 409 for another uid, 422, and what `edit` raises.
    """
    write = Write(
        WriteKind.OWN_UPDATE,
        store,
        ctx,
        clock,
        name=ctx.name,
        change=_Edited(edit),
        part=options.part,
        dry_run=options.dry_run,
        uid=options.uid,
        faults=options.faults,
        keeps_managed_fields=options.keeps_managed_fields,
    )
    return (await run(write)).result


async def delete(
    store: ResourceStore,
    ctx: Context,
    clock: Clock,
    deletion: DeletionOptions | None = None,
    *,
    uid: str | None = None,
    dry_run: bool = False,
) -> Write:
    """Delete the object that `ctx` names. Raises `StatusError`: 404, 409 (preconditions)."""
    terms = DeletionOptions() if deletion is None else deletion
    return await run(
        Write(WriteKind.OWN_DELETE, store, ctx, clock, name=ctx.name, uid=uid, dry_run=dry_run, deletion=terms)
    )
