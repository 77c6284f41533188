"""`ResourceInfo`: what a client must know of a resource to ask for it."""

from dataclasses import dataclass

from sampan.core.gvk import GroupVersionKind, GroupVersionResource


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource in one version, as discovery tells of it (or as a type declares it).

    `verbs` and `subresources` (`status`, `scale`, `eviction` …) are empty when they are not known; then nothing is
    refused on their account.
    """

    gvr: GroupVersionResource
    kind: str
    namespaced: bool
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()

    @property
    def gvk(self) -> GroupVersionKind:
        """The kind with group and version."""
        return GroupVersionKind(self.gvr.group, self.gvr.version, self.kind)

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return self.gvk.api_version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path. No namespace means all of them; names are taken as they are."""
        group, version, resource = self.gvr
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if namespace and self.namespaced:
            root = f"{root}/namespaces/{namespace}"
        parts = [part for part in (root, resource, name, subresource) if part]
        return "/".join(parts)
