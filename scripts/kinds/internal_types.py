"""Make `internal.json`: the fields of Kubernetes' internal types.

Errors show values of struct types as Go writes their internal form in JSON: all fields, in the order of the struct,
named as in Go. The result maps a type to its fields, each `"<name> <type>"`, followed by ` o` if it is left out when
empty. The name `.` is an embedded struct. A type is `s` (string), `i` (number), `b` (bool), `*T`, `[]T`, `{}T` (map) or
the name of a struct. `=<zero>` stands for a type that is shown as in a manifest.
"""

import json
from typing import Final

from scripts.kinds.go_types import Imports, Package, read_package
from scripts.kinds.sources import Sources

_META: Final = "pkg/apis/meta/v1"
_BASIC: Final = {"string": "s", "bool": "b", "byte": "s"} | dict.fromkeys(
    ("int", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float64"), "i"
)
_ZEROS: Final = {"Quantity": '="0"', "IntOrString": "=0", "Time": "=null", "MicroTime": "=null", "Duration": "i"} | {
    "UID": "s",
    "NodeName": "s",
}
_META_STRUCTS: Final = (
    "LabelSelector",
    "LabelSelectorRequirement",
    "ObjectMeta",
    "OwnerReference",
    "ManagedFieldsEntry",
)
"""Types of metav1 whose fields are shown; Go writes the others as a manifest does."""


def content(sources: Sources) -> bytes:
    """Return the content of `internal.json`."""
    folders = sorted((sources.kubernetes / "pkg/apis").iterdir())
    packages = {folder.name: read_package(folder, "types*.go") for folder in folders}
    packages["meta"] = read_package(sources.modules["apimachinery"] / _META, "types*.go")
    collector = _Collector(packages)
    for name, package in packages.items():
        for struct in package.structs.values():
            embedded = {member.type for member in struct.members if not member.name}
            if name != "meta" and {"metav1.TypeMeta", "metav1.ObjectMeta"} <= embedded:
                collector.collect(name, struct.name)
    return json.dumps(dict(sorted(collector.found.items())), indent=0, separators=(",", ":")).encode() + b"\n"


class _Collector:
    """Follows the fields of structs to further structs."""

    def __init__(self, packages: dict[str, Package]) -> None:
        self.found: dict[str, list[str]] = {}
        self._packages = packages

    def collect(self, package: str, name: str) -> str:
        """Record a struct and everything that it refers to. Return its key."""
        key = f"{package}.{name}"
        if key in self.found:
            return key
        rows = self.found[key] = []
        struct = self._packages[package].structs[name]
        for member in struct.members:
            shown = self._type(package, struct.imports, member.type)
            if not member.name or "inline" in member.json_options:
                if not member.type.endswith("TypeMeta"):
                    rows.append(f". {shown}")
            elif member.json_name != "-":
                rows.append(f"{member.json_name or member.name} {shown}{' o' if 'o' in member.flags else ''}")
        return key

    def _type(self, package: str, imports: Imports, kind: str) -> str:
        for prefix, mark in (("*", "*"), ("[]", "[]")):
            if kind.startswith(prefix):
                inner = self._type(package, imports, kind[len(prefix) :])
                return "*s" if kind == "[]byte" else mark + inner
        if kind.startswith("map["):
            return "{}" + self._type(package, imports, kind[kind.index("]") + 1 :])
        if kind in _BASIC:
            return _BASIC[kind]
        alias, _, name = kind.rpartition(".")
        if alias:
            home = "meta" if alias == "metav1" else imports.get(alias, "").rpartition("/")[2]
            return (
                _ZEROS.get(name, "={}") if name in _ZEROS or home not in self._packages else self._declared(home, name)
            )
        return self._declared(package, name)

    def _declared(self, package: str, name: str) -> str:
        declared = self._packages[package]
        if name in declared.structs:
            if package == "meta" and name not in _META_STRUCTS:
                return _ZEROS.get(name, "={}")
            return self.collect(package, name)
        if name in declared.named:
            return self._type(package, declared.imports, declared.named[name])
        return "={}"
