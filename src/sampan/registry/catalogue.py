"""Build a `ResourceDefinition` for every built-in resource that Sampan serves.

The resources and their verbs are data (`data/resources.json`); behaviour comes from the `Kind`s.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson

from sampan.core.clock import unix_time
from sampan.core.gvk import GroupResource, GroupVersionKind
from sampan.registry.columns.age import Ages
from sampan.registry.definition import (
    Column,
    ResourceDefinition,
    ScalePaths,
    SubresourceDefinition,
    VersionDefinition,
)
from sampan.registry.kind import Kind, KindVersion, MakeColumns
from sampan.schema.builtin import Definitions
from sampan.schema.structural import Schema

_DATA = Path(__file__).parent / "data" / "resources.json"
_STABLE = re.compile(r"v\d+")

Row = dict[str, Any]


def builtin_definitions(
    schemas: Definitions, kinds: Iterable[Kind], clock: Callable[[], float] = unix_time
) -> list[ResourceDefinition]:
    """Return the definition of every built-in resource, in the order of the API groups.

    Stable versions are served, and other versions that a `Kind` lists. A resource without a `Kind` gets the defaults.
    Schemas are built on first use. `clock` (seconds since 1970) is for the ages in tables.
    """
    known = {(kind.group, kind.resource): kind for kind in kinds}
    ages = Ages(clock)
    resources: dict[GroupResource, list[Row]] = {}
    for row in _rows():
        key = GroupResource(row["group"], row["resource"].partition("/")[0])
        kind = known.get((key.group, key.resource))
        if _STABLE.fullmatch(row["version"]) or (kind is not None and row["version"] in kind.versions):
            resources.setdefault(key, []).append(row)
    return [
        _definition(known.get((key.group, key.resource)) or Kind(key.group, key.resource), rows, schemas, ages)
        for key, rows in resources.items()
    ]


def cluster_scoped_resources() -> frozenset[tuple[str, str]]:
    """Return group and name of each built-in resource that has no namespace."""
    return frozenset((row["group"], row["resource"]) for row in _rows() if row["scope"] == "Cluster")


def _rows() -> list[Row]:
    rows: list[Row] = orjson.loads(_DATA.read_bytes())
    return rows


def _definition(kind: Kind, rows: list[Row], schemas: Definitions, ages: Ages) -> ResourceDefinition:
    main = next(row for row in rows if row["resource"] == kind.resource)
    definition = ResourceDefinition(
        group=kind.group,
        resource=kind.resource,
        singular=main["singular"],
        kind=main["kind"],
        list_kind=f"{main['kind']}List",
        namespaced=main["scope"] == "Namespaced",
        verbs=tuple(main["verbs"]),
        versions={},
        storage_version=main["version"],
        strategy=kind.strategy,
        short_names=tuple(main.get("shortNames", ())),
        categories=tuple(main.get("categories", ())),
        row_conditions=kind.row_conditions,
        row_order=kind.row_order,
        storage_prefix=f"/registry/{kind.storage_prefix or kind.resource}/",
        old_versions=kind.old_versions,
        storage_group=kind.storage_group,
    )
    for row in rows:
        _add_row(definition, row, kind, schemas)
    for name, special in kind.versions.items():
        version = definition.versions.get(name) or _added_version(definition, name, special, schemas)
        version.deprecation_warning = special.deprecation_warning
        version.deprecated = bool(special.deprecation_warning)
        version.conversion = special.conversion
        version.strategy = special.strategy
    for name, version in definition.versions.items():
        own = kind.versions.get(name)
        version.columns = _columns((own and own.columns) or kind.columns, ages)
    return definition


def _columns(make: MakeColumns | None, ages: Ages) -> Callable[[], tuple[Column, ...]] | None:
    if make is None:
        return None
    columns = make(ages)
    return lambda: columns


def _add_row(definition: ResourceDefinition, row: Row, kind: Kind, schemas: Definitions) -> None:
    name = row["resource"].partition("/")[2]
    version = definition.versions.get(row["version"])
    if version is None:
        gvk = GroupVersionKind(definition.group, row["version"], definition.kind)
        version = definition.versions[row["version"]] = VersionDefinition(row["version"], _SchemaOf(schemas, gvk))
    if name == "status":
        version.status = True
    elif name == "scale":
        version.scale = ScalePaths(label_selector="spec.selector")
    elif name:
        group: str = row.get("kindGroup", definition.group)
        own_version = str(row.get("kindVersion", row["version"]))
        gvk = GroupVersionKind(group, own_version, row["kind"])
        strategy = kind.subresources.get(name)
        definition.subresources[name] = SubresourceDefinition(name, gvk, tuple(row["verbs"]), strategy)


def _added_version(
    definition: ResourceDefinition, name: str, special: KindVersion, schemas: Definitions
) -> VersionDefinition:
    """Add a version that Kubernetes no longer serves and that old manifests still use."""
    current = definition.versions[definition.storage_version]
    schema = current.schema if special.schema is None else _Once(special.schema, schemas)
    version = VersionDefinition(name, schema, extra=True, status=current.status, scale=current.scale)
    definition.versions[name] = version
    return version


class _SchemaOf:
    """Returns the schema of a kind; it is built on the first call."""

    __slots__ = ("_gvk", "_schemas")

    def __init__(self, schemas: Definitions, gvk: GroupVersionKind) -> None:
        self._schemas = schemas
        self._gvk = gvk

    def __call__(self) -> Schema:
        schema = self._schemas.schema_for_kind(self._gvk)
        if schema is None:
            raise LookupError(f"no built-in schema for {self._gvk}")
        return schema


class _Once:
    """Returns a schema that is made on the first call and kept."""

    __slots__ = ("_made", "_make", "_schemas")

    def __init__(self, make: Callable[[Definitions], Schema], schemas: Definitions) -> None:
        self._make = make
        self._schemas = schemas
        self._made: Schema | None = None

    def __call__(self) -> Schema:
        if self._made is None:
            self._made = self._make(self._schemas)
        return self._made
