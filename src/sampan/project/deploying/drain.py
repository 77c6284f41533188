"""Custom resources before the end of their operator: drained while it runs, or released from its finalizers.

An object with a finalizer whose controller is gone can never be deleted. So the operator runs until its objects are
gone, or the finalizers are removed on purpose.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from sampan.client import ApiError, Client, DeleteOptions, ListOptions, MergePatch, NotFound
from sampan.core.clock import monotonic
from sampan.operator.finalizers import is_deleting
from sampan.project.deploying.plan import resource_of
from sampan.project.deploying.reasons import shown
from sampan.project.errors import ProjectError
from sampan.project.object_changes import title_of
from sampan.resource import Object, ResourceInfo

_LOOK_S: Final = 0.5
_PAGE: Final = 500
_SHOWN_MAX: Final = 10
_ROLES: Final = ("ClusterRole", "Role")
_KINDS_MAX: Final = 50

Report = Callable[[str], None]


async def drain(client: Client, definitions: Sequence[Object], report: Report, *, timeout_s: float) -> None:
    """Delete all objects of these CRDs, and wait until the operator has let go of them.

    Raises `ProjectError` after `timeout_s`; the objects that remain are reported with the reasons. Nothing of the
    operator has been removed then.
    """
    end, refused = monotonic() + timeout_s, dict[str, str]()
    announced = False
    while remaining := [pair for crd in definitions for pair in await objects_of(client, crd)]:
        if not announced:
            report(f"draining {len(remaining)} custom resources; the operator cleans up")
            announced = True
        if monotonic() >= end:
            for line in await _explained(client, remaining, refused):
                report(line)
            raise ProjectError(
                f"{len(remaining)} custom resources are still there after {timeout_s:g} s, so the operator was not "
                "removed. Repair what they wait for and run sampan undeploy again, or use --orphan-resources"
            )
        for info, obj in remaining:
            if not is_deleting(obj):
                await _delete(client, info, obj, refused)
        await asyncio.sleep(_LOOK_S)


async def objects_of(client: Client, crd: Object) -> list[tuple[ResourceInfo, Object]]:
    """Return all objects of a CRD. Raises `ApiError`."""
    info = resource_of(crd)
    try:
        listed = await client.resource(info, namespace="").list_all(page_size=_PAGE)
    except NotFound:
        return []
    return [(info, each) for each in listed.items]


async def _delete(client: Client, info: ResourceInfo, obj: Object, refused: dict[str, str]) -> None:
    metadata = obj["metadata"]
    resource = client.resource(info, namespace=metadata.get("namespace", ""))
    try:
        await resource.delete(metadata["name"], DeleteOptions(uid=metadata["uid"]))
    except NotFound:
        return
    except ApiError as error:
        refused[metadata["uid"]] = str(error)


async def _explained(
    client: Client, remaining: Sequence[tuple[ResourceInfo, Object]], refused: dict[str, str]
) -> list[str]:
    """Return why objects remain."""
    lines = []
    for info, obj in remaining[:_SHOWN_MAX]:
        metadata, texts = obj["metadata"], []
        if text := refused.get(metadata["uid"], ""):
            texts.append(f"its deletion is refused: {shown(text)}")
        if finalizers := metadata.get("finalizers"):
            texts.append(f"waits for {', '.join(map(shown, finalizers))}")
        conditions = (obj.get("status") or {}).get("conditions") or []
        texts += [
            f"{each.get('type')}={each.get('status')} {shown(each.get('message', ''))}"
            for each in conditions
            if isinstance(each, dict) and each.get("status") != "True"
        ]
        lines.append(f"remains  {_title(info, obj)}: {'; '.join(texts) or 'its deletion is not finished'}")
    more = len(remaining) - _SHOWN_MAX
    return [*lines, *([f"remains  {more} more"] if more > 0 else [])]


async def held_by_operator(
    client: Client, members: Sequence[Object], definitions: Sequence[Object], group: str
) -> list[tuple[ResourceInfo, Object]]:
    """Return the objects with a finalizer of the operator: of its CRDs, and of kinds that its roles let it write."""
    found = [pair for crd in definitions for pair in await objects_of(client, crd)]
    own = {resource_of(crd).gvr.group_resource for crd in definitions}
    for info in (await _written_kinds(client, members))[:_KINDS_MAX]:
        if info.gvr.group_resource not in own:
            found += [(info, each) for each in await _all(client, info)]
    return [(info, obj) for info, obj in found if finalizers_of(obj, group)]


async def _all(client: Client, info: ResourceInfo) -> Sequence[Object]:
    try:
        return (await client.resource(info, namespace="").list_all(ListOptions(), page_size=_PAGE)).items
    except ApiError:
        return ()  # This user may not list them: the operator's finalizer there is rare, and no reason to stop.


async def _written_kinds(client: Client, members: Sequence[Object]) -> list[ResourceInfo]:
    rules = [rule for obj in members if obj["kind"] in _ROLES for rule in obj.get("rules") or []]
    names = {
        (group, resource)
        for rule in rules
        if {"patch", "update"} & set(rule.get("verbs") or [])
        for group in rule.get("apiGroups") or []
        for resource in rule.get("resources") or []
    }
    served = (await client.mapper.discovered()).resources
    found = dict[Any, ResourceInfo]()
    for info in served:
        if tuple(info.gvr.group_resource) in names and (not info.verbs or "list" in info.verbs):
            found.setdefault(info.gvr.group_resource, info)
    return list(found.values())


def finalizers_of(obj: Object, group: str) -> list[str]:
    """Return the finalizers of an object that belong to the operator of an API group: those in its domain."""
    return [each for each in obj["metadata"].get("finalizers") or [] if _is_below(each.partition("/")[0], group)]


def _is_below(domain: str, group: str) -> bool:
    return domain == group or domain.endswith(f".{group}")


async def release(client: Client, held: Sequence[tuple[ResourceInfo, Object]], group: str, report: Report) -> None:
    """Remove the operator's finalizers. What the operator made outside of the cluster stays. Raises `ApiError`."""
    for info, obj in held:
        metadata = obj["metadata"]
        remaining = [each for each in metadata["finalizers"] if each not in finalizers_of(obj, group)]
        patch = MergePatch({"metadata": {"finalizers": remaining, "resourceVersion": metadata["resourceVersion"]}})
        try:
            await client.resource(info, namespace=metadata.get("namespace", "")).patch(metadata["name"], patch)
        except NotFound:
            continue
        report(f"released {_title(info, obj)}")


def _title(info: ResourceInfo, obj: Object) -> str:
    return title_of(info.kind, obj["metadata"]["name"], obj["metadata"].get("namespace", ""))
