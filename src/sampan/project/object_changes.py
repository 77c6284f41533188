"""`changes_of`: what server-side apply of objects would change on a server, for every diff of a project."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.client import ApiError, ApplyDiff, Client, Conflict, NotFound
from sampan.project.errors import ProjectError
from sampan.resource import Object, ResourceInfo

_OWNER: Final = re.compile(r'conflict with "([^"]*)"')
"""Source: structured-merge-diff merge/conflict.go (v6)."""
SERVER_OWNED: Final = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object of a project, and its state on the server before and after an apply."""

    info: ResourceInfo
    desired: Object
    diff: ApplyDiff
    """Difference in what a user declares: without the status, and without metadata that the server sets."""
    stored: Object | None
    """The object on the server; None if the apply creates it."""
    is_forced: bool = False
    """True: the apply takes fields of other owners."""

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.desired["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace of the object; empty if its kind has none."""
        return str(self.desired["metadata"].get("namespace", "")) if self.info.namespaced else ""

    @property
    def title(self) -> str:
        """Kind and name, with the namespace."""
        return title_of(self.info.kind, self.name, self.namespace)


def title_of(kind: str, name: str, namespace: str = "") -> str:
    """Return how lines for users name an object: `Deployment boats in harbour`."""
    return f"{kind} {name}" + (f" in {namespace}" if namespace else "")


async def changes_of(
    client: Client,
    objects: Sequence[tuple[ResourceInfo, Object]],
    *,
    field_manager: str,
    force: bool = False,
    take_from: Collection[str] = (),
    absent_namespaces: Collection[str] = (),
) -> list[ObjectChange]:
    """Return the change of each object. Nothing is written: the server runs each apply as a dry run.

    Objects in `absent_namespaces`, which are created before them, have no dry run. Raises `ProjectError` that names all
    fields of other owners, unless `force` is set or the owners are in `take_from`. Raises `ApiError` for an object that
    the server refuses.
    """
    found, conflicts = list[ObjectChange](), list[str]()
    for info, desired in objects:
        namespace = desired["metadata"].get("namespace", "") if info.namespaced else ""
        if namespace in absent_namespaces:
            found.append(ObjectChange(info, desired, ApplyDiff(None, desired), None, force))
            continue
        resource, is_forced = client.resource(info, namespace=namespace), force
        try:
            diff = await resource.diff(desired, field_manager=field_manager, force=force)
        except Conflict as error:
            if not error.has_cause("FieldManagerConflict"):
                raise
            if not _owners(error) <= set(take_from):
                conflicts += _conflicts(error, title_of(info.kind, desired["metadata"]["name"], namespace))
                continue
            diff, is_forced = await resource.diff(desired, field_manager=field_manager, force=True), True
        before = None if diff.before is None else _declared(diff.before)
        found.append(ObjectChange(info, desired, ApplyDiff(before, _declared(diff.after)), diff.before, is_forced))
    if conflicts:
        raise ProjectError(f"nothing was applied, because others own fields: {'; '.join(conflicts)}")
    return found


async def present(client: Client, info: ResourceInfo, name: str, namespace: str = "") -> Object | None:
    """Return an object, or None if it or its kind does not exist. Raises `ApiError`."""
    try:
        return await client.resource(info, namespace=namespace).get(name)
    except NotFound:
        return None


def _owners(error: ApiError) -> set[str]:
    """Return the managers of the fields; "" if a message names none."""
    found = [_OWNER.match(str(each.get("message", ""))) for each in error.causes]
    return {each[1] if each else "" for each in found}


def _conflicts(error: ApiError, title: str) -> list[str]:
    """Return a text for each field: its object, its path and its owner."""
    causes = [each for each in error.causes if each.get("reason") == "FieldManagerConflict"]
    return [f"{title}: {each.get('field', '')} ({each.get('message', '')})" for each in causes]


def _declared(obj: Object) -> Object:
    """Return the parts of an object that a user declares."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in SERVER_OWNED}
    return {**{name: value for name, value in obj.items() if name != "status"}, "metadata": metadata}
