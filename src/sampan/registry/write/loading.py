"""Steps that begin an attempt: the stored object and its preconditions."""

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.numbers.resource_version import parse_resource_version
from sampan.registry.write.write import Part, Write


async def load(write: Write) -> None:
    """Take the stored object from the cache, and decode it. Raises 500 if a webhook fails to convert it."""
    origin, store = write.origin, write.store
    origin.look()
    row, write.desired = origin.row, {}
    if row is None:
        write.stored, write.old = b"", None
        return
    size_bytes = len(row.value)
    note_size(size_bytes + store.strategy.size_of_work(size_bytes))
    if write.listed is not None and write.listed.revision == row.mod_revision:
        write.stored = write.listed.value
    elif store.definition.webhook is None:
        write.stored = row.value
    else:
        write.stored = await store.present(row.value)
    write.old = await offloaded(store.decode, write.stored)


async def load_existing(write: Write) -> None:
    """Do the same as `load`. Raises 404 if the object does not exist."""
    await load(write)
    if write.old is None:
        raise write.store.not_found(write.name)


def check_creation(write: Write) -> None:
    """Refuse an update of an absent object, unless the update may create the object. Raises 404, 409."""
    store = write.store
    if not write.creates or write.part is not Part.MAIN:
        raise store.not_found(write.name)
    if write.uid:
        raise _wrong_uid(write, "")


def check_uid(write: Write) -> None:
    """Check the uid of the stored object. Raises 409 if the update requires another one."""
    if write.uid:
        stored = write.present["metadata"].get("uid", "")
        if write.uid != stored:
            raise _wrong_uid(write, stored)


def revision_of(resource_version: str) -> int:
    """Return a resourceVersion as a number, 0 if it is empty. Raises 500 if it is invalid, as in Kubernetes."""
    try:
        return parse_resource_version(resource_version)
    except ValueError as error:
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, str(error)) from None


def _wrong_uid(write: Write, stored: str) -> errors.StatusError:
    """Return the error of a wrong uid, with the text of Kubernetes' storage, which contains the key."""
    key = write.origin.key.removeprefix("/registry")
    text = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {write.uid}, UID in object meta: {stored}"
    )
    return errors.conflict(write.store.definition.group_resource, write.name, text)
