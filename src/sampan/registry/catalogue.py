"""The built-in catalogue: a `ResourceDefinition` for every stable resource of Kubernetes 1.36.

What is served is data (`data/resources.json`); behaviour comes from the strategies and columns that the caller hands
in.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from sampan.core.gvk import GroupResource, GroupVersionKind
from sampan.registry.definition import (
    Column,
    Conversion,
    ResourceDefinition,
    ScalePaths,
    SubresourceDefinition,
    VersionDefinition,
)
from sampan.registry.legacy import crd_v1beta1_schema
from sampan.registry.metadata_checks import metadata_checks
from sampan.registry.strategy import Strategy
from sampan.schema.builtin import Definitions
from sampan.schema.structural import Schema

Strategies = Mapping[tuple[str, str], Strategy]
"""(group, resource) -> strategy."""
Columns = Mapping[tuple[str, str, str], Callable[[], tuple[Column, ...]]]
"""(group, resource, version) -> maker of the columns."""
Conversions = Mapping[tuple[str, str, str], Conversion]
"""(group, resource, version) -> conversion to and from the hub."""

_DATA = Path(__file__).parent / "data" / "resources.json"
_STABLE = re.compile(r"v\d+")
_SPECIAL_PREFIXES = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "services"): "services/specs",
    ("", "nodes"): "minions",
    ("networking.k8s.io", "ingresses"): "ingress",
    ("apiextensions.k8s.io", "customresourcedefinitions"): "apiextensions.k8s.io/customresourcedefinitions",
    ("apiregistration.k8s.io", "apiservices"): "apiregistration.k8s.io/apiservices",
}
"""Source: kubeapiserver/default_storage_factory_builder.go (1.36)."""
_DEPRECATED = {
    ("", "componentstatuses", "v1"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "endpoints", "v1"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
_OLD_VERSIONS = {
    ("batch", "cronjobs"): {
        "v1beta1": "batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob",
        "v2alpha1": "batch/v2alpha1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob",
    },
    ("apiextensions.k8s.io", "customresourcedefinitions"): {
        "v1beta1": "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
        "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition"
    },
}
"""Versions that Kubernetes no longer serves and that old manifests still name."""

Row = dict[str, Any]


def builtin_definitions(
    schemas: Definitions,
    strategies: Strategies,
    columns: Columns,
    conversions: Conversions | None = None,
) -> list[ResourceDefinition]:
    """Every stable built-in resource, in the order of the API groups. Schemas are built on first use."""
    rows = [row for row in _rows() if _STABLE.fullmatch(row["version"])]
    resources: dict[GroupResource, list[Row]] = {}
    for row in rows:
        resources.setdefault(GroupResource(row["group"], row["resource"].partition("/")[0]), []).append(row)
    made = [
        _definition(key, found, schemas, strategies.get((key.group, key.resource)) or Strategy())
        for key, found in resources.items()
    ]
    for definition in made:
        for version in definition.versions.values():
            place = (definition.group, definition.resource, version.name)
            version.columns = columns.get(place) or columns.get((*place[:2], definition.storage_version))
            version.conversion = (conversions or {}).get(place)
    return made


def storage_prefix(group: str, resource: str) -> str:
    """Where the objects of a built-in resource live, as in kube-apiserver's store: `/registry/services/specs/`.

    Core events and those of events.k8s.io are the same objects.
    """
    return f"/registry/{_SPECIAL_PREFIXES.get((group, resource), resource)}/"


def _rows() -> list[Row]:
    rows: list[Row] = orjson.loads(_DATA.read_bytes())
    return rows


def _definition(key: GroupResource, rows: list[Row], schemas: Definitions, strategy: Strategy) -> ResourceDefinition:
    main = next(row for row in rows if row["resource"] == key.resource)
    definition = ResourceDefinition(
        group=key.group,
        resource=key.resource,
        singular=main["singular"],
        kind=main["kind"],
        list_kind=f"{main['kind']}List",
        namespaced=main["scope"] == "Namespaced",
        verbs=tuple(main["verbs"]),
        versions={},
        storage_version=main["version"],
        strategy=strategy,
        metadata_checks=metadata_checks(key.group, key.resource),
        short_names=tuple(main.get("shortNames", ())),
        categories=tuple(main.get("categories", ())),
        storage_prefix=storage_prefix(key.group, key.resource),
        storage_group="" if key == ("events.k8s.io", "events") else None,
    )
    for row in rows:
        _add_row(definition, row, schemas)
    for name, warning in _OLD_VERSIONS.get((key.group, key.resource), {}).items():
        _add_old_version(definition, name, warning, schemas)
    return definition


def _add_row(definition: ResourceDefinition, row: Row, schemas: Definitions) -> None:
    name = row["resource"].partition("/")[2]
    version = definition.versions.get(row["version"])
    if version is None:
        gvk = GroupVersionKind(definition.group, row["version"], definition.kind)
        warning = _DEPRECATED.get((definition.group, definition.resource, row["version"]), "")
        version = definition.versions[row["version"]] = VersionDefinition(
            name=row["version"],
            schema=_SchemaOf(schemas, gvk),
            deprecated=bool(warning),
            deprecation_warning=warning,
        )
    if name == "status":
        version.status = True
    elif name == "scale":
        version.scale = ScalePaths(label_selector="spec.selector")
    elif name:
        group: str = row.get("kindGroup", definition.group)
        own_version = str(row.get("kindVersion", row["version"]))
        gvk = GroupVersionKind(group, own_version, row["kind"])
        definition.subresources[name] = SubresourceDefinition(name, gvk, tuple(row["verbs"]))


def _add_old_version(definition: ResourceDefinition, name: str, warning: str, schemas: Definitions) -> None:
    current = definition.versions[definition.storage_version]
    schema = current.schema
    if definition.kind == "CustomResourceDefinition":
        schema = _CrdV1beta1(schemas)
    definition.versions[name] = VersionDefinition(
        name=name,
        schema=schema,
        deprecated=True,
        deprecation_warning=warning,
        status=current.status,
        scale=current.scale,
    )


class _SchemaOf:
    """Gives the schema of a kind when it is first asked for."""

    __slots__ = ("_gvk", "_schemas")

    def __init__(self, schemas: Definitions, gvk: GroupVersionKind) -> None:
        self._schemas = schemas
        self._gvk = gvk

    def __call__(self) -> Schema:
        schema = self._schemas.schema_for_kind(self._gvk)
        if schema is None:
            raise LookupError(f"no built-in schema for {self._gvk}")
        return schema


class _CrdV1beta1:
    """Gives the schema of the old CRDs, made once."""

    __slots__ = ("_made", "_schemas")

    def __init__(self, schemas: Definitions) -> None:
        self._schemas = schemas
        self._made: Schema | None = None

    def __call__(self) -> Schema:
        if self._made is None:
            self._made = crd_v1beta1_schema(self._schemas)
        return self._made
