"""`ResourceInfo`: the properties of a resource that a client needs for requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from sampan.core.gvk import GroupVersionKind, GroupVersionResource

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource in one version, from discovery or from a declared type.

    `verbs` and `subresources` (`status`, `scale`, `eviction` …) are empty if they are unknown. Then the client assumes
    that all of them are supported.
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
        """Kind with group and version."""
        return GroupVersionKind(self.gvr.group, self.gvr.version, self.kind)

    @property
    def api_version(self) -> str:
        """`apiVersion` of its objects."""
        return self.gvk.api_version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path. Without a namespace, the path is that for all namespaces. Names are not escaped."""
        group, version, resource = self.gvr
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if namespace and self.namespaced:
            root = f"{root}/namespaces/{namespace}"
        parts = [part for part in (root, resource, name, subresource) if part]
        return "/".join(parts)


class TypedResource(ResourceInfo, Generic[T_co]):
    """ResourceInfo with the type of its objects, for type checkers: `TypedResource[apps_v1.Deployment]`.

    There are no instances: at run time, a value is a plain `ResourceInfo`. Clients, informers and listers of it have
    dicts of type `T_co`.
    """
