"""`make_plan`: what a deployment would change, before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.client import Client, ListOptions, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.operator.process.checks import missing_parts
from sampan.operator.rights import Right
from sampan.operator.webhook.targets import FIELD_MANAGER as INJECTOR
from sampan.project.deploying.inventory import ID, Inventory, kind_of, kinds_in, owner_label
from sampan.project.deploying.stages import CRD, NAMESPACE, stage_of
from sampan.project.errors import ProjectError
from sampan.project.object_changes import ObjectChange, changes_of, present, title_of
from sampan.resource import Object, ResourceInfo

MANAGER: Final = "sampan-deploy"
_OWN_MANAGERS: Final = frozenset({MANAGER, "sampan-run", INJECTOR})
"""Field managers of the same project: `sampan run --context`, and the operator where it keeps its webhooks. What they
have applied is taken over.
"""
NAMESPACES: Final = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", False)
_WRITE: Final = ("get", "create", "patch")


@dataclass(frozen=True, slots=True)
class Removal:
    """Object of an earlier deployment that the project no longer has."""

    info: ResourceInfo
    obj: Object

    @property
    def title(self) -> str:
        """Kind and name."""
        metadata = self.obj["metadata"]
        return title_of(self.info.kind, metadata["name"], metadata.get("namespace", ""))


@dataclass(frozen=True, slots=True)
class DeployPlan:
    """Changes in the order of their application."""

    inventory: Inventory
    record: ObjectChange
    """Parent of the inventory during the deployment: it names the kinds before and after."""
    final_record: Object
    """Parent after the removals."""
    changes: Sequence[ObjectChange]
    removals: Sequence[Removal]
    notes: Sequence[str]
    """Objects that stay as they are, with the reason."""

    @property
    def is_empty(self) -> bool:
        """True if nothing would be written."""
        return not self.removals and not any(each.diff.changed for each in (self.record, *self.changes))

    def text(self, *, in_full: bool = False) -> str:
        """Return a line for each object, with its diff if it changes; with `in_full` also the text of new objects."""
        lines = list[str]()
        for each in (*self.changes, self.record):
            if each.diff.changed:
                lines.append(f"{'create' if each.stored is None else 'change'}   {each.title}")
                if in_full or each.stored is not None:
                    lines.append(str(each.diff))
        lines += [f"remove   {each.title}" for each in self.removals]
        lines += [f"keep     {note}" for note in self.notes]
        return "".join(f"{line}\n" for line in lines)


async def make_plan(
    client: Client, inventory: Inventory, objects: Sequence[Object], *, take_over: bool = False
) -> DeployPlan:
    """Compare the objects of a project with the server. Nothing is written.

    `take_over`: take objects and fields of other owners. Raises `ProjectError` that names missing rights, owners of
    objects, or owners of fields; `ApiError` for an object that the server refuses.
    """
    ordered = sorted(objects, key=lambda obj: stage_of(kind_of(obj)))
    resolved = [(await client.mapper.resource_for(obj), obj) for obj in ordered]
    await check_rights(client, inventory, [info for info, _ in resolved])
    notes, foreign = list[str](), list[str]()
    own, absent = {*_OWN_MANAGERS, inventory.name}, set[str]()
    desired = list[tuple[ResourceInfo, Object]]()
    for info, obj in resolved:
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace", "") if info.namespaced else ""
        stored = None if namespace in absent else await present(client, info, name, namespace)
        member = inventory.member(obj)
        if stored is None:
            absent |= {name} if kind_of(obj) == NAMESPACE else set()
            desired.append((info, member))
        elif kind_of(obj) == NAMESPACE and owner_label(stored) != inventory.id:
            notes.append(f"{title_of(info.kind, name)}: it exists already, so it is used but not changed")
        elif take_over or owner_label(stored) == inventory.id or (not owner_label(stored) and _managers(stored) <= own):
            desired.append((info, member))
        else:
            foreign.append(f"{title_of(info.kind, name, namespace)} ({await _owner(client, stored)})")
    if foreign:
        raise ProjectError(
            f"nothing was applied, because objects of other owners exist: {'; '.join(foreign)}; "
            "--take-over makes them part of this deployment"
        )
    changes = await changes_of(
        client, desired, field_manager=MANAGER, force=take_over, take_from=own, absent_namespaces=absent
    )
    return await _with_removals(client, inventory, changes, absent, notes)


async def _with_removals(
    client: Client, inventory: Inventory, changes: Sequence[ObjectChange], absent: set[str], notes: list[str]
) -> DeployPlan:
    parent = None if inventory.namespace in absent else await inventory.read(client)
    kinds = [kind_of(each.desired) for each in changes]
    namespaces = [each.namespace for each in changes]
    removals = list[Removal]()
    retained = list[Removal]()
    if parent is not None:
        desired = {(kind_of(each.desired), each.namespace, each.name) for each in changes}
        for info, obj in await inventory.members(client, parent):
            place = (kind_of(obj), obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            if place in desired:
                continue
            removal = Removal(info, obj)
            if note := await _reason_to_keep(client, removal):
                retained.append(removal)
                notes.append(note)
            else:
                removals.append(removal)
    kinds += [kind_of(each.obj) for each in retained]
    before = kinds_in(parent) if parent is not None else []
    during = inventory.record([*kinds, *(before if removals else ())], namespaces)
    info = await client.mapper.resource_for(during)
    [record] = await changes_of(client, [(info, during)], field_manager=MANAGER, force=True, absent_namespaces=absent)
    removals.sort(key=lambda each: -stage_of(kind_of(each.obj)))
    return DeployPlan(inventory, record, inventory.record(kinds, namespaces), changes, removals, notes)


async def _reason_to_keep(client: Client, removal: Removal) -> str:
    """Return why an object that the project no longer has must stay; empty if it can be removed."""
    if kind_of(removal.obj) == NAMESPACE:
        return f"{removal.title}: it is no longer in the project, but may have objects of others"
    if kind_of(removal.obj) != CRD:
        return ""
    if count := await stored_objects(client, removal.obj):
        return f"{removal.title}: it is no longer in the project, but {count} objects exist; delete them first"
    return ""


async def stored_objects(client: Client, crd: Object) -> int:
    """Return how many objects a CRD has, at least: counting stops after the first page."""
    info = resource_of(crd)
    try:
        page = await client.resource(info, namespace="").metadata_only().list(ListOptions(limit=500))
    except NotFound:
        return 0
    return len(page.items) + (page.remaining or 0)


def resource_of(crd: Object) -> ResourceInfo:
    """Return the resource of a CRD in its stored version, or else in one that is served."""
    spec = crd["spec"]
    served = [each for each in spec["versions"] if each.get("served")]
    version = next((each for each in served if each.get("storage")), served[0] if served else spec["versions"][0])
    gvr = GroupVersionResource(spec["group"], version["name"], spec["names"]["plural"])
    return ResourceInfo(gvr, spec["names"]["kind"], spec["scope"] == "Namespaced")


async def check_rights(client: Client, inventory: Inventory, infos: Sequence[ResourceInfo]) -> None:
    """Raise `ProjectError` that names all rights that the user lacks."""
    places = {(info.gvr.group, info.gvr.resource, info.namespaced) for info in infos} | {("", "configmaps", True)}
    rights = [
        Right(verb, group, resource, inventory.namespace if namespaced else None)
        for group, resource, namespaced in sorted(places)
        for verb in _WRITE
    ]
    lines = await missing_parts(client, [], rights)
    if lines:
        raise ProjectError(f"nothing was applied: {'; '.join(lines).replace('this operator', 'your user')}")


def _managers(obj: Object) -> set[str]:
    """Return the managers of an object's fields, without those of its status."""
    entries = obj["metadata"].get("managedFields") or []
    return {str(each.get("manager", "")).replace("_", "-") for each in entries if not each.get("subresource")}


async def _owner(client: Client, obj: Object) -> str:
    """Describe the owner of an object: another deployment, or the managers of its fields."""
    label = owner_label(obj)
    if not label:
        return f"managed by {', '.join(sorted(_managers(obj))) or 'an unknown client'}"
    info = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)
    found = await client.resource(info, namespace="").list(ListOptions(label_selector=f"{ID}={label}", limit=1))
    for parent in found.items:
        metadata = parent["metadata"]
        return f"part of the deployment of ConfigMap {metadata['name']} in {metadata['namespace']}"
    return f"part of {label}"
