"""`MatchedRequest`: a request that is matched with webhooks and policies; `Surroundings`: shared caches."""

from collections.abc import Sequence
from typing import NamedTuple

from sampan.core import errors
from sampan.core.gvk import GroupResource, GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.definition import ResourceDefinition
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.matching.rule import NAMESPACES

_NAMESPACES = GroupResource("", "namespaces")


class Equivalent(NamedTuple):
    """Resource, and the kind of its requests."""

    endpoint: Endpoint
    gvr: GroupVersionResource
    gvk: GroupVersionKind


class Surroundings:
    """Caches of one cluster that the plug-ins share."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._labels = DerivedCache(cluster.reader, "", "namespaces", _labels_of)
        self._namespaces = DerivedCache(cluster.reader, "", "namespaces", _shown_namespace)
        self._equivalents: dict[tuple[GroupVersionResource, str], list[Equivalent]] = {}
        cluster.registry.subscribe(self._equivalents.clear)

    def namespace_labels(self, name: str) -> dict[str, str]:
        """Return the labels of a namespace. **Raises** 404."""
        found = self._labels.get(name)
        if found is None:
            raise errors.not_found(_NAMESPACES, name)
        return found

    def namespace_object(self, name: str) -> Object:
        """Return the variable `namespaceObject`; read only. **Raises** 404."""
        found = self._namespaces.get(name)
        if found is None:
            raise errors.not_found(_NAMESPACES, name)
        return found

    def equivalents(self, attributes: Attributes) -> list[Equivalent]:
        """Return the other versions and groups that serve the objects of a request's resource."""
        key = (attributes.gvr, attributes.subresource)
        found = self._equivalents.get(key)
        if found is None:
            found = self._equivalents[key] = self._find_equivalents(attributes)
        return found

    def _find_equivalents(self, attributes: Attributes) -> list[Equivalent]:
        endpoint = attributes.endpoint
        if endpoint is None:
            return []
        found = []
        for definition in self._stored_alike(endpoint.definition):
            for version in definition.versions.values():
                other = self.cluster.endpoint(
                    definition.group, version.name, definition.resource, attributes.subresource
                )
                if not version.served or other is None or other.gvr == attributes.gvr:
                    continue
                own_kind = attributes.gvk.kind == endpoint.definition.kind
                found.append(Equivalent(other, other.gvr, other.gvk if own_kind else attributes.gvk))
        return found

    def _stored_alike(self, definition: ResourceDefinition) -> Sequence[ResourceDefinition]:
        prefix = definition.storage_prefix
        if not prefix:
            return [definition]
        return [other for other in self.cluster.registry.definitions() if other.storage_prefix == prefix]


class MatchedRequest:
    """Attributes of a write that rules and selectors are compared with."""

    __slots__ = ("attributes", "namespace", "surroundings")

    def __init__(self, attributes: Attributes, surroundings: Surroundings) -> None:
        self.attributes = attributes
        self.surroundings = surroundings
        self.namespace = attributes.name if attributes.gvr == NAMESPACES else attributes.namespace
        """Namespace of the object; for a Namespace its name."""

    @property
    def own(self) -> Equivalent:
        """Return the resource of the request."""
        attributes = self.attributes
        assert attributes.endpoint is not None
        return Equivalent(attributes.endpoint, attributes.gvr, attributes.gvk)

    def namespace_labels(self) -> dict[str, str]:
        """Return the labels for namespaceSelectors. **Raises** 404 if the namespace does not exist.

        Source: apiserver pkg/admission/plugin/webhook/predicates/namespace/matcher.go (1.36).
        """
        attributes = self.attributes
        obj = attributes.obj
        changed = obj is not None and attributes.operation in ("CREATE", "UPDATE") and not attributes.subresource
        if changed and obj is not None and attributes.gvr == NAMESPACES:
            return _labels_of(obj)
        return self.surroundings.namespace_labels(self.namespace)

    def namespace_object(self) -> Object | None:
        """Return the variable `namespaceObject`; None for Namespaces and cluster-scoped objects. **Raises** 404."""
        if not self.namespace or self.attributes.gvr == NAMESPACES:
            return None
        return self.surroundings.namespace_object(self.namespace)


def _labels_of(obj: Object) -> dict[str, str]:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    return labels


_SHOWN = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"),
)


def _shown_namespace(obj: Object) -> Object:
    metadata = obj["metadata"]
    return {
        "metadata": {name: metadata[name] for name in _SHOWN if name in metadata},
        "spec": obj.get("spec") or {},
        "status": obj.get("status") or {},
    }
