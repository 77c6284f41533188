"""`undeploy`: removes what a deployment has made, after its custom resources have ended in order."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sampan.client import Client, ClientError, DeleteOptions, NotFound
from sampan.core.clock import monotonic
from sampan.project.deploying.drain import drain, held_by_operator, release
from sampan.project.deploying.inventory import CONFIG_MAPS, Inventory, kind_of, owner_label
from sampan.project.deploying.leftovers import foreign_in, made_by_operator
from sampan.project.deploying.plan import NAMESPACES, Removal, resource_of, stored_objects
from sampan.project.deploying.reasons import shown
from sampan.project.deploying.stages import CRD, NAMESPACE, Stage, stage_of
from sampan.project.errors import ProjectError
from sampan.project.object_changes import present
from sampan.resource import Object

_LOOK_S: Final = 0.2
_ORDER: Final = (Stage.WEBHOOKS, Stage.DEFINITIONS, Stage.WORKLOADS, Stage.REMAINING, Stage.NAMESPACES)
"""Webhooks first, so that they refuse nothing. CRDs while the operator runs, which cleans up what is still created."""

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class UndeployOptions:
    """Choices of one `sampan undeploy`."""

    group: str
    """API group of the project, which is the domain of the operator's finalizers."""
    timeout_s: float
    keep_resources: bool = False
    """Keep the CRDs and their objects."""
    orphan_resources: bool = False
    """Remove the operator's finalizers instead of letting it clean up."""


@dataclass(frozen=True, slots=True)
class Removals:
    """Objects that would be removed, in order."""

    inventory: Inventory
    objects: Sequence[Removal]
    counts: dict[str, int]
    """Number of custom resources by the name of their CRD, without empty ones."""
    notes: Sequence[str]
    has_parent: bool

    @property
    def definitions(self) -> list[Object]:
        """CRDs that would be removed."""
        return [each.obj for each in self.objects if kind_of(each.obj) == CRD]

    def text(self) -> str:
        """Return a line for each object, and for what stays."""
        lines = [f"remove   {each.title}{self._counted(each)}" for each in self.objects]
        return "".join(f"{line}\n" for line in [*lines, *(f"keep     {note}" for note in self.notes)])

    def _counted(self, removal: Removal) -> str:
        count = self.counts.get(removal.obj["metadata"]["name"]) if kind_of(removal.obj) == CRD else None
        return f" and its {count} objects" if count else ""


async def find_removals(client: Client, inventory: Inventory, options: UndeployOptions) -> Removals | None:
    """Return what would be removed, or None if nothing is deployed. Nothing is written. Raises `ApiError`."""
    parent = await inventory.read(client)
    pairs = [] if parent is None else await inventory.members(client, parent)
    namespace = await present(client, NAMESPACES, inventory.namespace)
    is_own = namespace is not None and owner_label(namespace) == inventory.id
    if is_own and namespace is not None and all(kind_of(obj) != NAMESPACE for _, obj in pairs):
        pairs.append((NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", **namespace}))
    if parent is None and not pairs:
        return None
    pairs += await made_by_operator(client, inventory, [obj for _, obj in pairs])
    removals = [Removal(info, obj) for info, obj in pairs]
    notes, counts = list[str](), dict[str, int]()
    own = {resource_of(obj).gvr.group_resource for _, obj in pairs if kind_of(obj) == CRD}
    if foreign := await foreign_in(client, inventory, own) if is_own else []:
        removals = [each for each in removals if kind_of(each.obj) != NAMESPACE]
        notes.append(f"Namespace {inventory.namespace}: it has objects of others, such as {', '.join(foreign[:3])}")
    for each in [each for each in removals if kind_of(each.obj) == CRD]:
        count = await stored_objects(client, each.obj)
        if options.keep_resources:
            removals.remove(each)
            notes.append(f"{each.title} and its {count} objects")
        elif count:
            counts[each.obj["metadata"]["name"]] = count
    removals.sort(key=lambda each: _ORDER.index(stage_of(kind_of(each.obj))))
    return Removals(inventory, removals, counts, notes, parent is not None)


async def undeploy(client: Client, found: Removals, options: UndeployOptions, report: Report) -> None:
    """Remove all of it and wait until it is gone.

    Raises `ProjectError`: custom resources remain, then nothing of the operator was removed; or a request fails.
    """
    done = list[str]()
    try:
        await _free_resources(client, found, options, report)
        for stage in _ORDER:
            group = [each for each in found.objects if stage_of(kind_of(each.obj)) is stage]
            for removal in group:
                await _delete(client, removal)
            for removal in group:
                await _wait_until_gone(client, removal, options.timeout_s)
                done.append(removal.title)
                report(f"removed  {removal.title}")
        if found.has_parent:
            await _delete_parent(client, found.inventory)
    except ClientError as error:
        before = f"removed before: {', '.join(done)}" if done else "nothing of the operator was removed"
        raise ProjectError(f"{error}; {before}. Run sampan undeploy again") from error


async def _free_resources(client: Client, found: Removals, options: UndeployOptions, report: Report) -> None:
    """Make sure that no object waits for the operator after its end."""
    members = [each.obj for each in found.objects]
    parent = await found.inventory.read(client)
    crds = [obj for _, obj in await found.inventory.members(client, parent) if kind_of(obj) == CRD] if parent else []
    if options.orphan_resources:
        # A running operator would set its finalizers again, and its webhooks refuse all changes once it has ended.
        for stage in (Stage.WORKLOADS, Stage.WEBHOOKS):
            for removal in [each for each in found.objects if stage_of(kind_of(each.obj)) is stage]:
                await _delete(client, removal)
                await _wait_until_gone(client, removal, options.timeout_s)
        await release(client, await held_by_operator(client, members, crds, options.group), options.group, report)
    if not options.keep_resources:
        await drain(client, found.definitions, report, timeout_s=options.timeout_s)
    if held := await held_by_operator(client, members, crds, options.group):
        names = [Removal(info, obj).title for info, obj in held[:5]]
        raise ProjectError(
            f"nothing of the operator was removed, because {len(held)} objects have its finalizer and could never be "
            f"deleted without it: {', '.join(names)}. Delete them, or use --orphan-resources"
        )


async def _delete(client: Client, removal: Removal) -> None:
    metadata = removal.obj["metadata"]
    resource = client.resource(removal.info, namespace=metadata.get("namespace", ""))
    # Foreground: a Deployment is gone only after its Pods.
    options = DeleteOptions(uid=metadata["uid"], propagation_policy="Foreground")
    if stage_of(kind_of(removal.obj)) is not Stage.WORKLOADS:
        options = replace(options, propagation_policy="Background")
    try:
        await resource.delete(metadata["name"], options)
    except NotFound:
        return


async def _wait_until_gone(client: Client, removal: Removal, timeout_s: float) -> None:
    metadata, end = removal.obj["metadata"], monotonic() + timeout_s
    while True:
        now = await present(client, removal.info, metadata["name"], metadata.get("namespace", ""))
        if now is None or now["metadata"]["uid"] != metadata["uid"]:
            return
        if monotonic() >= end:
            raise ProjectError(f"{removal.title} is still there after {timeout_s:g} s: {_waits_for(now)}")
        await asyncio.sleep(_LOOK_S)


def _waits_for(obj: Object) -> str:
    """Return what a deleted object waits for."""
    texts = [f"finalizer {each}" for each in obj["metadata"].get("finalizers") or []]
    if obj.get("kind") == NAMESPACE.kind:
        conditions = (obj.get("status") or {}).get("conditions") or []
        texts += [shown(each.get("message", "")) for each in conditions if each.get("status") == "True"]
    return "; ".join(texts) or "its deletion is not finished"


async def _delete_parent(client: Client, inventory: Inventory) -> None:
    try:
        await client.resource(CONFIG_MAPS, namespace=inventory.namespace).delete(inventory.parent)
    except NotFound:
        return  # It was in a namespace that is gone.
