"""Make the modules of `sampan.kinds`: a TypedDict for each type of a stable version, from the published definitions.

A module is one version of a group. Names are those of Kubernetes. A field is required in three cases:

- the schema requires it;
- it is `apiVersion`, `kind` or `metadata` of a kind, unless another type contains the kind, as volumeClaimTemplates do;
- it is a struct with required fields and no pointer in Go, which always writes it; not a status, which the server sets.
"""

import itertools
import keyword
import re
from collections import defaultdict
from typing import Any, Final

from scripts.kinds import resources
from scripts.kinds.sources import Json, Sources

FOLDER: Final = "src/sampan/kinds"
_STABLE: Final = re.compile(r"v\d+")
_META: Final = "meta_v1"
_PACKAGES: Final = {
    "io.k8s.apimachinery.pkg.api.resource": _META,
    "io.k8s.apimachinery.pkg.runtime": _META,
    "io.k8s.apimachinery.pkg.util.intstr": _META,
    "io.k8s.apimachinery.pkg.version": _META,
}
"""Packages without a version: their types are in the module of metadata."""
_ALIASES: Final = {
    "FieldsV1": ("dict[str, Any]", "Paths of fields that a manager owns."),
    "IntOrString": ("int | str", "Number or name of a port, count or percentage."),
    "JSON": ("Any", "Any JSON value."),
    "JSONSchemaPropsOrArray": ("dict[str, Any] | list[Any]", "Schema, or one schema for each item."),
    "JSONSchemaPropsOrBool": ("dict[str, Any] | bool", "Schema, or whether every value is permitted."),
    "JSONSchemaPropsOrStringArray": ("dict[str, Any] | list[str]", "Schema, or names of properties."),
    "MicroTime": ("str", "Time in RFC 3339 with microseconds: `2026-01-31T12:00:00.000000Z`."),
    "Patch": ("dict[str, Any]", "Body of a patch."),
    "Quantity": ("str", "Amount with a suffix: `100m`, `1.5Gi`, `2e3`."),
    "RawExtension": ("dict[str, Any]", "Object of any kind."),
    "Time": ("str", "Time in RFC 3339: `2026-01-31T12:00:00Z`."),
}
"""Types that are no structs: what they are in JSON, and their docstring."""
_TYPING: Final = {"Any", "Final", "Literal", "Required", "TypeAlias", "TypedDict"}
_PURPOSE_LENGTH_MAX: Final = 110
_SCALARS: Final = {"string": "str", "boolean": "bool", "integer": "int", "number": "float"}


def contents(sources: Sources, fields: Json) -> dict[str, bytes]:
    """Return the modules by their path in the repository. `fields` is the content of `fields.json`."""
    return _Types(sources, fields).modules()


def _split(definition: str) -> tuple[str, str]:
    """Return the module and the name of a definition: `apps_v1`, `Deployment`."""
    package, _, name = definition.rpartition(".")
    group, version = package.split(".")[-2:]
    return _PACKAGES.get(package, f"{group}_{version}"), name


def _is_stable(definition: str) -> bool:
    return _STABLE.fullmatch(_split(definition)[0].rpartition("_")[2]) is not None


class _Types:
    """All types of stable versions, and where they are used."""

    def __init__(self, sources: Sources, fields: Json) -> None:
        self._nodes = {name: node for name, node in sorted(sources.definitions.items()) if _is_stable(name)}
        self._fields = fields
        self._resources = _resources_by_kind(sources)
        self._uses: dict[str, list[str]] = defaultdict(list)
        for name, node in self._nodes.items():
            for field, child in node.get("properties", {}).items():
                self._uses[_target(child)].append(f"{_split(name)[1]}.{field}")

    def modules(self) -> dict[str, bytes]:
        """Return the modules by their path."""
        by_module: dict[str, list[str]] = defaultdict(list)
        for name in self._nodes:
            by_module[_split(name)[0]].append(name)
        return {
            f"{FOLDER}/{module}.py": self._module(module, names).encode() for module, names in sorted(by_module.items())
        }

    def _module(self, module: str, names: list[str]) -> str:
        parts = [self._type(module, name) for name in sorted(names, key=lambda each: _split(each)[1])]
        served = [row for name in names if (row := self._row(name)) is not None]
        if served:
            parts += _resource_table(served)
        body = _joined(parts)
        text = f'"""Types of {module.replace("_", "/")}. `make kinds` writes this module."""\n\n'
        text += "from __future__ import annotations\n\n"
        text += f"from typing import {', '.join(sorted(_TYPING & set(re.findall(r'[A-Z][A-Za-z]+', body))))}\n\n"
        if served:
            text += "from sampan.core.gvk import GroupVersion\n"
        if imported := sorted(set(re.findall(r"\b(\w+_v\d+)\.", body)) - {module}):
            text += f"from sampan.kinds import {', '.join(imported)}\n"
        return text.rstrip() + "\n\n" + ("\n" if body.startswith("class ") else "") + body

    def _row(self, name: str) -> Json | None:
        """Return the row of `resources.json` for a type that is the kind of a resource."""
        kind = _kind_of(self._nodes[name])
        return None if kind is None else self._resources.get((kind["group"], kind["version"], kind["kind"]))

    def _type(self, module: str, name: str) -> str:
        node, short = self._nodes[name], _split(name)[1]
        if short in _ALIASES:
            value, purpose = _ALIASES[short]
            return f'{short}: TypeAlias = {value}\n"""{purpose}"""\n'
        if "properties" not in node:
            return f'{short}: TypeAlias = dict[str, Any]\n"""Object without fields that the schema names."""\n'
        members = {field: self._member(module, name, field) for field in node["properties"]}
        if all(field.isidentifier() and not keyword.iskeyword(field) for field in members):
            lines = "".join(f"    {field}: {of}\n" for field, of in members.items())
            return f'class {short}(TypedDict, total=False):\n    """{self._purpose(name)}"""\n\n{lines}'
        lines = "".join(f'        "{field}": "{of}",\n' for field, of in members.items())
        return (
            f'{short} = TypedDict(\n    "{short}",\n    {{\n{lines}    }},\n    total=False,\n)\n'
            f'"""{self._purpose(name)}"""\n'
        )

    def _purpose(self, name: str) -> str:
        properties, uses = self._nodes[name]["properties"], self._uses[name]
        row = self._row(name)
        if row is not None:
            return f"Object of the resource `{row['resource']}`{' in a namespace' * (row['scope'] == 'Namespaced')}."
        if "items" in properties and "metadata" in properties:
            return f"Response with a list of `{_split(_target(properties['items']))[1]}`."
        if not uses:
            return "Body of requests or responses."
        if len(uses) == 1:
            return f"Type of `{uses[0]}`."
        both = f"Type of `{uses[0]}`, `{uses[1]}`{' and more fields' * (len(uses) > 2)}."
        return both if len(both) <= _PURPOSE_LENGTH_MAX else f"Type of `{uses[0]}` and more fields."

    def _member(self, module: str, name: str, field: str) -> str:
        node = self._nodes[name]
        kind = _kind_of(node)
        child = node["properties"][field]
        if kind is not None and field in ("apiVersion", "kind"):
            version = "/".join(filter(None, (kind["group"], kind["version"])))
            written = f'Literal["{version if field == "apiVersion" else kind["kind"]}"]'
            if "properties" in node and not all(each.isidentifier() for each in node["properties"]):
                written = written.replace('"', "'")
        else:
            written = self._written(module, child)
        return f"Required[{written}]" if self._is_required(name, field) else written

    def _written(self, module: str, node: Json) -> str:
        if "$ref" in node:
            other, short = _split(_target(node))
            return short if other == module else f"{other}.{short}"
        if node.get("type") == "array":
            return f"list[{self._written(module, node['items'])}]"
        if isinstance(node.get("additionalProperties"), dict):
            return f"dict[str, {self._written(module, node['additionalProperties'])}]"
        return _SCALARS.get(node.get("type", ""), "dict[str, Any]")

    def _is_required(self, name: str, field: str) -> bool:
        node = self._nodes[name]
        if field in node.get("required", ()):
            return True
        if _kind_of(node) is not None and field in ("apiVersion", "kind", "metadata"):
            return field == "metadata" or all(use.endswith("List.items") for use in self._uses[name])
        child = node["properties"][field]
        if field == "status" or "$ref" not in child:
            return False
        flags = self._fields.get(name, {}).get(field, "p").partition(" ")[0]
        return "p" not in flags and self._has_required(_target(child))

    def _has_required(self, name: str) -> bool:
        properties = self._nodes[name].get("properties", ())
        return any(self._is_required(name, field) for field in properties)


def _resource_table(rows: list[Json]) -> list[str]:
    """Return the parts of a module that its resources need, of which all have one group and version."""
    (group_version,) = {(row["group"], row["version"]) for row in rows}
    lines = "".join(f'    "{row["kind"]}": ("{row["resource"]}", {row["scope"] == "Namespaced"}),\n' for row in rows)
    return [
        f'GROUP_VERSION: Final = GroupVersion("{group_version[0]}", "{group_version[1]}")\n',
        f'RESOURCES: Final = {{\n{lines}}}\n"""Resources by their kinds, and True if they are in namespaces."""\n',
    ]


def _joined(parts: list[str]) -> str:
    """Return parts of a module with the blank lines that a formatter puts between them."""
    text = parts[0]
    for before, part in itertools.pairwise(parts):
        text += ("\n\n" if "class " in (before[:6], part[:6]) else "\n") + part
    return text


def _target(node: Json) -> str:
    """Return the definition that a field refers to, in lists and maps as well; empty if none."""
    while True:
        inner = node.get("items") or node.get("additionalProperties")
        if not isinstance(inner, dict):
            return str(node.get("$ref", "")).rpartition("/")[2]
        node = inner


def _kind_of(node: Json) -> Any:
    """Return group, version and kind of a type that is one kind; None for other types."""
    kinds = node.get("x-kubernetes-group-version-kind", ())
    return kinds[0] if len(kinds) == 1 else None


def _resources_by_kind(sources: Sources) -> dict[tuple[str, str, str], Json]:
    return {
        (row["group"], row["version"], row["kind"]): row
        for row in resources.rows(sources)
        if "/" not in row["resource"]
    }
