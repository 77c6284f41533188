"""`Inventory`: which objects a deployment has made, recorded on the server as an ApplySet.

Each object has the label `applyset.kubernetes.io/part-of`. A ConfigMap, the parent, names the kinds and namespaces
in which to look for them. So an object of an earlier deployment is found after it has left the project, and an object
without the label is never removed.

Source: KEP-3659; kubectl pkg/cmd/apply/applyset.go (1.36) for names, values and the id.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sampan.client import Client, ListOptions, NotFound
from sampan.core.gvk import GroupKind, GroupVersion, GroupVersionResource
from sampan.project.errors import ProjectError
from sampan.resource import Object, ResourceInfo

_DOMAIN: Final = "applyset.kubernetes.io/"
PART_OF: Final = f"{_DOMAIN}part-of"
ID: Final = f"{_DOMAIN}id"
_TOOLING: Final = f"{_DOMAIN}tooling"
_KINDS: Final = f"{_DOMAIN}contains-group-kinds"
_NAMESPACES: Final = f"{_DOMAIN}additional-namespaces"
CONFIG_MAPS: Final = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)
_TOOL: Final = "sampan/v1"
_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Inventory:
    """Record of a deployment. A namespace has one for each name."""

    name: str
    namespace: str

    @property
    def parent(self) -> str:
        """Name of the ConfigMap."""
        return f"{self.name}-deployment"

    @property
    def id(self) -> str:
        """Value of the label of all members."""
        digest = hashlib.sha256(f"{self.parent}.{self.namespace}.ConfigMap.".encode()).digest()
        return f"applyset-{urlsafe_b64encode(digest).decode().rstrip('=')}-v1"

    def member(self, obj: Object) -> Object:
        """Return an object with the label of the members."""
        metadata = obj["metadata"]
        return {**obj, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), PART_OF: self.id}}}

    def record(self, kinds: Iterable[GroupKind], namespaces: Iterable[str]) -> Object:
        """Return the parent for members of these kinds in these namespaces."""
        listed = sorted(map(str, set(kinds)))
        remaining = sorted(set(namespaces) - {"", self.namespace})
        annotations = {_TOOLING: _TOOL, _KINDS: ",".join(listed), _NAMESPACES: ",".join(remaining)}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self.parent,
                "namespace": self.namespace,
                "labels": {ID: self.id},
                "annotations": annotations,
            },
        }

    async def read(self, client: Client) -> Object | None:
        """Return the parent, or None if nothing is deployed. Raises `ApiError`."""
        try:
            return await client.resource(CONFIG_MAPS, namespace=self.namespace).get(self.parent)
        except NotFound:
            return None

    async def members(self, client: Client, parent: Object) -> list[tuple[ResourceInfo, Object]]:
        """Return the objects of the deployment with their resources. Raises `ApiError`."""
        found = list[tuple[ResourceInfo, Object]]()
        for kind in kinds_in(parent):
            info = await info_of(client, kind)
            if info is None:
                continue  # Its CRD was deleted, and with it all objects.
            for namespace in [self.namespace, *_namespaces_in(parent)] if info.namespaced else [""]:
                options = ListOptions(label_selector=f"{PART_OF}={self.id}")
                listed = await client.resource(info, namespace=namespace).list_all(options, page_size=_PAGE)
                found += [(info, {"apiVersion": info.api_version, "kind": info.kind, **obj}) for obj in listed.items]
        return found


def kind_of(obj: Object) -> GroupKind:
    """Return group and kind of an object."""
    return GroupKind(GroupVersion.parse(obj["apiVersion"]).group, str(obj["kind"]))


def kinds_in(parent: Object) -> list[GroupKind]:
    """Return the kinds that a parent names."""
    listed = ((parent["metadata"].get("annotations") or {}).get(_KINDS) or "").split(",")
    pairs = (each.partition(".") for each in listed if each)
    return [GroupKind(group, kind) for kind, _, group in pairs]


def _namespaces_in(parent: Object) -> list[str]:
    listed = ((parent["metadata"].get("annotations") or {}).get(_NAMESPACES) or "").split(",")
    return [each for each in listed if each]


async def info_of(client: Client, kind: GroupKind) -> ResourceInfo | None:
    """Return the resource of a kind in its preferred version; None if the server does not serve it.

    Raises `ProjectError` if the server cannot list the group at present.
    """
    found = await client.mapper.discovered()
    served = [info for info in found.resources if (info.gvr.group, info.kind) == kind]
    if not served and any(version.group == kind.group for version in found.failed):
        raise ProjectError(f"the server does not respond for {kind}: is the APIService of its group available?")
    return served[0] if served else None


def owner_label(obj: Object) -> str:
    """Return the id of the deployment of an object; empty if it belongs to none."""
    return str((obj["metadata"].get("labels") or {}).get(PART_OF, ""))
