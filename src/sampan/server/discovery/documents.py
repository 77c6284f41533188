"""Discovery documents as JSON values.

Source: apimachinery pkg/apis/meta/v1/types.go, api apidiscovery/v2/types.go (1.36).
"""

from collections.abc import Sequence

from sampan.registry.definition import ResourceDefinition
from sampan.server.discovery.resources import Document, ServedGroup, ServedResource, Subresource, Version

_CHANGES = frozenset({"create", "patch", "update"})


def api_versions(server_address: str) -> Document:
    """Return the document of `/api`."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}],
    }


def api_group_list(groups: Sequence[ServedGroup]) -> Document:
    """Return the document of `/apis`."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group_fields(group) for group in groups]}


def api_group(group: ServedGroup) -> Document:
    """Return the document of `/apis/<group>`."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_fields(group)}


def api_resource_list(group: ServedGroup, version: Version) -> Document:
    """Return the document of `/api/v1` or `/apis/<group>/<version>`."""
    document: Document = {"kind": "APIResourceList"}
    if group.name:
        document["apiVersion"] = "v1"
    document["groupVersion"] = _group_version(group.name, version.name)
    entries = []
    for resource in version.resources:
        entries.append(_resource_entry(resource))
        entries += [_subresource_entry(resource, sub) for sub in resource.subresources]
    document["resources"] = entries
    return document


def aggregated(groups: Sequence[ServedGroup]) -> Document:
    """Return a single document of all groups (apidiscovery.k8s.io/v2)."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group_discovery(group) for group in groups],
    }


def _group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _group_fields(group: ServedGroup) -> Document:
    versions = [{"groupVersion": _group_version(group.name, v.name), "version": v.name} for v in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def _resource_entry(resource: ServedResource) -> Document:
    definition = resource.definition
    entry: Document = {
        "name": definition.resource,
        "singularName": definition.singular,
        "namespaced": definition.namespaced,
        "kind": definition.kind,
        "verbs": offered_verbs(definition),
    }
    if definition.short_names:
        entry["shortNames"] = list(definition.short_names)
    if definition.categories:
        entry["categories"] = list(definition.categories)
    if resource.hash:
        entry["storageVersionHash"] = resource.hash
    return entry


def _subresource_entry(resource: ServedResource, subresource: Subresource) -> Document:
    definition = resource.definition
    entry: Document = {
        "name": f"{definition.resource}/{subresource.name}",
        "singularName": "",
        "namespaced": definition.namespaced,
    }
    if subresource.version:
        entry["group"] = subresource.group
        entry["version"] = subresource.version
        if not subresource.group:
            del entry["group"]
    entry["kind"] = subresource.kind
    entry["verbs"] = list(subresource.verbs)
    return entry


def _group_discovery(group: ServedGroup) -> Document:
    metadata: Document = {"creationTimestamp": None}
    if group.name:
        metadata = {"name": group.name, **metadata}
    return {"metadata": metadata, "versions": [_version_discovery(group, v) for v in group.versions]}


def _version_discovery(group: ServedGroup, version: Version) -> Document:
    if version.remote is not None:
        return version.remote
    resources = [_resource_discovery(group, version, resource) for resource in version.resources]
    return {"version": version.name, "resources": resources, "freshness": "Current"}


def _resource_discovery(group: ServedGroup, version: Version, resource: ServedResource) -> Document:
    definition = resource.definition
    own = (group.name, version.name) if definition.dialect.discovery_repeats_version else ("", "")
    document: Document = {
        "resource": definition.resource,
        "responseKind": _kind(*own, definition.kind),
        "scope": "Namespaced" if definition.namespaced else "Cluster",
        "singularResource": definition.singular,
        "verbs": offered_verbs(definition),
    }
    if definition.short_names:
        document["shortNames"] = list(definition.short_names)
    if definition.categories:
        document["categories"] = list(definition.categories)
    if resource.subresources:
        document["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _kind(sub.group, sub.version, sub.kind) if sub.version else _kind(*own, sub.kind),
                "verbs": list(sub.verbs),
            }
            for sub in resource.subresources
        ]
    return document


def _kind(group: str, version: str, kind: str) -> Document:
    return {"group": group, "version": version, "kind": kind}


def offered_verbs(definition: ResourceDefinition) -> list[str]:
    """Return the verbs that clients may use. A type that is being deleted can only be read and deleted.

    Source: apiextensions pkg/apiserver/customresource_discovery_controller.go (1.36).
    """
    verbs = sorted(definition.verbs) if definition.dialect.sorts_discovery else list(definition.verbs)
    return [verb for verb in verbs if verb not in _CHANGES] if definition.terminating else verbs
