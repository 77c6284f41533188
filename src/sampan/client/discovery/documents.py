"""Documents of discovery (only the fields in use) and the resources that they list.

Source: k8s.io/api apidiscovery/v2/types.go; apimachinery meta/v1/types.go `APIGroupList`, `APIResourceList` (1.36).
"""

from collections.abc import Sequence

import msgspec

from sampan.core.gvk import GroupVersion, GroupVersionResource
from sampan.resource import ResourceInfo


class Root(msgspec.Struct):
    """Kind of a discovery document, which selects the type to decode it with."""

    kind: str = ""


class _ResponseKind(msgspec.Struct):
    kind: str = ""


class _Subresource(msgspec.Struct):
    subresource: str


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Subresource] | None = None


class _Version(msgspec.Struct):
    version: str
    resources: list[_Resource] | None = None
    freshness: str = ""


class _GroupMeta(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _GroupMeta = msgspec.field(default_factory=_GroupMeta)
    versions: list[_Version] | None = None


class AggregatedList(msgspec.Struct):
    """`APIGroupDiscoveryList`: all groups in one document."""

    items: list[_Group] | None = None


def aggregated(
    document: AggregatedList,
) -> tuple[dict[GroupVersion, Sequence[ResourceInfo]], dict[GroupVersion, str]]:
    """Return the resources of each version, and an error for each version whose entry the server marks as stale."""
    versions: dict[GroupVersion, Sequence[ResourceInfo]] = {}
    stale: dict[GroupVersion, str] = {}
    for group in document.items or ():
        for version in group.versions or ():
            group_version = GroupVersion(group.metadata.name, version.version)
            if version.freshness == "Stale":
                stale[group_version] = f"stale GroupVersion discovery: {group_version}"
            else:
                versions[group_version] = [
                    _info(group_version, found) for found in version.resources or () if _kind(found)
                ]
    return versions, stale


def _kind(found: _Resource) -> str:
    """Return the kind; empty if the entry only has subresources."""
    return found.response_kind.kind if found.response_kind else ""


def _info(group_version: GroupVersion, found: _Resource) -> ResourceInfo:
    return ResourceInfo(
        GroupVersionResource(*group_version, found.resource),
        _kind(found),
        found.scope == "Namespaced",
        found.singular_resource,
        tuple(found.short_names or ()),
        tuple(found.categories or ()),
        frozenset(found.verbs or ()),
        frozenset(each.subresource for each in found.subresources or ()),
    )


class _GroupVersionForDiscovery(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _LegacyGroup(msgspec.Struct, rename="camel"):
    versions: list[_GroupVersionForDiscovery] | None = None
    preferred_version: _GroupVersionForDiscovery | None = None


class LegacyGroups(msgspec.Struct):
    """`APIVersions` (of /api) or `APIGroupList` (of /apis)."""

    versions: list[str] | None = None
    groups: list[_LegacyGroup] | None = None

    def group_versions(self) -> list[GroupVersion]:
        """Return the group versions in order; the preferred version of each group is first."""
        found = list(self.versions or ())
        for group in self.groups or ():
            preferred = [group.preferred_version] if group.preferred_version else []
            found += [version.group_version for version in (*preferred, *(group.versions or ()))]
        return [GroupVersion.parse(text) for text in dict.fromkeys(found) if text]


class _LegacyResource(msgspec.Struct, rename="camel"):
    name: str
    kind: str = ""
    namespaced: bool = False
    singular_name: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None


class LegacyResources(msgspec.Struct):
    """`APIResourceList` of one group version. Subresources are among the resources: `pods/status`."""

    resources: list[_LegacyResource] | None = None


def legacy(group_version: GroupVersion, document: LegacyResources) -> list[ResourceInfo]:
    """Return the resources with their subresources."""
    subresources: dict[str, set[str]] = {}
    for found in document.resources or ():
        name, _, subresource = found.name.partition("/")
        subresources.setdefault(name, set()).update({subresource} - {""})
    return [
        ResourceInfo(
            GroupVersionResource(*group_version, found.name),
            found.kind,
            found.namespaced,
            found.singular_name,
            tuple(found.short_names or ()),
            tuple(found.categories or ()),
            frozenset(found.verbs or ()),
            frozenset(subresources[found.name]),
        )
        for found in document.resources or ()
        if "/" not in found.name
    ]
