"""Objects that a deployment has not applied: those that the running operator made, and foreign ones."""

from collections.abc import Collection, Sequence
from typing import Final

from sampan.client import ApiError, Client, ListOptions
from sampan.core.gvk import GroupResource, GroupVersionResource
from sampan.project.deploying.inventory import Inventory, info_of, owner_label
from sampan.project.deploying.stages import WEBHOOK_KINDS
from sampan.project.object_changes import title_of
from sampan.resource import Object, ResourceInfo

_MADE: Final = (
    ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", True),
    ResourceInfo(GroupVersionResource("coordination.k8s.io", "v1", "leases"), "Lease", True),
)
"""Kinds that an operator makes for itself in its namespace: certificates and leases."""
_OF_EVERY_NAMESPACE: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
_TRANSIENT: Final = frozenset({"events", "leases", "endpoints", "endpointslices", "pods", "replicasets"})
"""Resources that only accompany others."""
_PAGE: Final = 100


async def made_by_operator(
    client: Client, inventory: Inventory, members: Sequence[Object]
) -> list[tuple[ResourceInfo, Object]]:
    """Return what the operator made for itself: configurations of its webhooks, certificates and leases.

    A configuration counts if all of its webhooks lead to Services of the deployment. Without them, it would refuse
    all writes of its kinds.
    """
    services = {_place(each) for each in members if each["kind"] == "Service"}
    known = {each["metadata"].get("uid") for each in members}
    found = list[tuple[ResourceInfo, Object]]()
    for kind in WEBHOOK_KINDS:
        if services and (info := await info_of(client, kind)) is not None:
            for each in (await client.resource(info).list_all()).items:
                used = {_service(webhook) for webhook in each.get("webhooks") or []}
                if used and used <= services and each["metadata"]["uid"] not in known:
                    found.append((info, {"apiVersion": info.api_version, "kind": info.kind, **each}))
    for info in _MADE:
        for each in (await client.resource(info, namespace=inventory.namespace).list_all()).items:
            if _is_of_operator(each, inventory) and each["metadata"]["uid"] not in known:
                found.append((info, {"apiVersion": info.api_version, "kind": info.kind, **each}))
    return found


async def foreign_in(client: Client, inventory: Inventory, own: Collection[GroupResource]) -> list[str]:
    """Return the titles of objects in the deployment's namespace that are neither its own nor of its operator.

    `own`: resources of its CRDs, whose objects end with the deployment.
    """
    found, visited = list[str](), set(own)
    for info in (await client.mapper.discovered()).resources:
        if info.gvr.group_resource in visited or not _is_counted(info):
            continue
        visited.add(info.gvr.group_resource)
        try:
            page = await client.resource(info, namespace=inventory.namespace).list(ListOptions(limit=_PAGE))
        except ApiError:
            continue  # This user may not see them.
        found += [
            title_of(info.kind, each["metadata"]["name"]) for each in page.items if _is_other(info, each, inventory)
        ]
    return found


def _is_counted(info: ResourceInfo) -> bool:
    return info.namespaced and info.gvr.resource not in _TRANSIENT and {"list", "delete"} <= info.verbs


def _is_other(info: ResourceInfo, obj: Object, inventory: Inventory) -> bool:
    name = obj["metadata"]["name"]
    if (info.kind, name) in _OF_EVERY_NAMESPACE or name == inventory.parent or obj["metadata"].get("ownerReferences"):
        return False
    return owner_label(obj) != inventory.id and not _is_of_operator(obj, inventory)


def _is_of_operator(obj: Object, inventory: Inventory) -> bool:
    """Return True if only the operator has written the object: its field manager has the name of the project."""
    entries = obj["metadata"].get("managedFields") or []
    return bool(entries) and {str(each.get("manager", "")).replace("_", "-") for each in entries} == {inventory.name}


def _place(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _service(webhook: Object) -> tuple[str, str]:
    found = (webhook.get("clientConfig") or {}).get("service") or {}
    return str(found.get("namespace", "")), str(found.get("name", ""))
