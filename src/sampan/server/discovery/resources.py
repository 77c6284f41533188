"""Served resources by group and version, for discovery.

Source: apiserver pkg/endpoints/installer.go, apiextensions-apiserver customresource_discovery_controller.go (1.36).
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.server.discovery.order import CUSTOM_VERSION_PRIORITY, group_priority, version_key

_STATUS_VERBS = ("get", "patch", "update")

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Subresource:
    """Subresource. `group` and `version` are set if its kind has a different group version than the resource."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class ServedResource:
    """Resource in one version."""

    definition: ResourceDefinition
    hash: str
    """storageVersionHash; empty for resources that are not stored."""
    subresources: tuple[Subresource, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """Group version with its resources by name."""

    name: str
    resources: tuple[ServedResource, ...]
    remote: Document | None = None
    """Entry of the aggregated document for a group version of another server."""


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Contents of APIServices by group and version: priorities, and documents of backends."""

    priorities: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Priorities of group and version; the default order applies to missing ones."""
    remote: Mapping[tuple[str, str], Document] = field(default_factory=dict)


NOTHING_AGGREGATED = Aggregated()


@dataclass(frozen=True, slots=True)
class ServedGroup:
    """Group with its versions, the preferred one first."""

    name: str
    versions: tuple[Version, ...]

    def version(self, name: str) -> Version | None:
        return next((v for v in self.versions if v.name == name), None)


def served_groups(
    definitions: Sequence[ResourceDefinition], aggregated: Aggregated = NOTHING_AGGREGATED
) -> tuple[ServedGroup, ...]:
    """Return all served groups by priority."""
    storage_groups: dict[str, str] = {}
    for definition in definitions:
        storage_groups.setdefault(definition.storage_prefix or definition.resource, definition.group)
    groups: dict[str, dict[str, list[ServedResource]]] = {}
    for definition in definitions:
        prefix = definition.storage_prefix
        storage_group = storage_groups[prefix] if prefix else definition.group
        for version in definition.versions.values():
            if version.served:
                resource = ServedResource(
                    definition, _hash(definition, storage_group), _subresources(definition, version)
                )
                groups.setdefault(definition.group, {}).setdefault(version.name, []).append(resource)
    for group, name in aggregated.remote:
        groups.setdefault(group, {})[name] = []
    found = [_group(name, versions, aggregated) for name, versions in groups.items()]
    return tuple(group for _, group in sorted(found, key=lambda each: (-each[0], each[1].name)))


def _group(name: str, versions: Mapping[str, list[ServedResource]], aggregated: Aggregated) -> tuple[int, ServedGroup]:
    """Return a group and its priority, which is the highest of its versions."""
    by_version = {version: aggregated.priorities.get((name, version)) for version in versions}
    usual = group_priority(name)
    priority = max(usual if each is None else each[0] for each in by_version.values())

    def key(version: str) -> tuple[int, tuple[int, int, int, int, str]]:
        each = by_version[version]
        return (-(CUSTOM_VERSION_PRIORITY if each is None else each[1]), version_key(version))

    # Use the default order of versions before APIServices exist.
    ordered = sorted(versions, key=key if None not in by_version.values() else version_key)
    return priority, ServedGroup(name, tuple(_version(name, v, versions[v], aggregated) for v in ordered))


def storage_version_hash(group: str, version: str, kind: str) -> str:
    """Return the hash by which clients detect a changed storage version. Source:
    endpoints/discovery/storageversionhash.go.
    """
    digest = hashlib.sha256(f"{group}/{version}/{kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _version(group: str, name: str, resources: list[ServedResource], aggregated: Aggregated) -> Version:
    resources = sorted(resources, key=lambda r: r.definition.resource)
    return Version(name, tuple(resources), aggregated.remote.get((group, name)))


def _hash(definition: ResourceDefinition, storage_group: str) -> str:
    if "get" not in definition.verbs or "create" not in definition.verbs:
        return ""
    return storage_version_hash(storage_group, definition.storage_version, definition.kind)


def _subresources(definition: ResourceDefinition, version: VersionDefinition) -> tuple[Subresource, ...]:
    found = {}
    if version.status:
        found["status"] = Subresource("status", definition.kind, _STATUS_VERBS)
    if version.scale is not None:
        found["scale"] = Subresource("scale", "Scale", _STATUS_VERBS, "autoscaling", "v1")
    for subresource in definition.subresources.values():
        kind = subresource.kind
        foreign = (kind.group, kind.version) != (definition.group, version.name) and kind.version != ""
        foreign = foreign and not (kind.group == definition.group and kind.kind == definition.kind)
        found[subresource.name] = Subresource(
            subresource.name,
            kind.kind,
            tuple(sorted(subresource.verbs)),
            kind.group if foreign else "",
            kind.version if foreign else "",
        )
    return tuple(found[name] for name in (sorted(found) if definition.dialect.sorts_discovery else found))
