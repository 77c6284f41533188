"""What the registry serves, by group and version, as discovery tells it.

Source: apiserver pkg/endpoints/installer.go, apiextensions-apiserver customresource_discovery_controller.go (1.36).
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.server.discovery.order import group_key, version_key

_STATUS_VERBS = ("get", "patch", "update")

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource; `group` and `version` are set where its kind is not of the group version that lists it."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource in one version."""

    definition: ResourceDefinition
    hash: str
    """storageVersionHash; empty for what is not stored."""
    subresources: tuple[Subresource, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A group version with its resources by name."""

    name: str
    resources: tuple[Resource, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group with its versions, the preferred one first."""

    name: str
    versions: tuple[Version, ...]

    def version(self, name: str) -> Version | None:
        return next((v for v in self.versions if v.name == name), None)


def served_groups(definitions: Sequence[ResourceDefinition]) -> tuple[Group, ...]:
    """All served groups in order of priority."""
    storage_groups: dict[str, str] = {}
    for definition in definitions:
        storage_groups.setdefault(definition.storage_prefix or definition.resource, definition.group)
    groups: dict[str, dict[str, list[Resource]]] = {}
    for definition in definitions:
        prefix = definition.storage_prefix
        storage_group = storage_groups[prefix] if prefix else definition.group
        for version in definition.versions.values():
            if version.served:
                resource = Resource(definition, _hash(definition, storage_group), _subresources(definition, version))
                groups.setdefault(definition.group, {}).setdefault(version.name, []).append(resource)
    return tuple(
        Group(name, tuple(_version(v, groups[name][v]) for v in sorted(groups[name], key=version_key)))
        for name in sorted(groups, key=group_key)
    )


def storage_version_hash(group: str, version: str, kind: str) -> str:
    """Lets clients see that the stored version has changed. Source: endpoints/discovery/storageversionhash.go."""
    digest = hashlib.sha256(f"{group}/{version}/{kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _version(name: str, resources: list[Resource]) -> Version:
    return Version(name, tuple(sorted(resources, key=lambda r: r.definition.resource)))


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
    return tuple(found[name] for name in sorted(found))
