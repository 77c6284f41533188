"""Collect the fields of Kubernetes' internal types: `src/sampan/registry/data/internal.json`.

Errors show values of struct types as Go writes their internal form in JSON: all fields, in the order of the struct,
named as in Go. The result maps a type to its fields, each `"<name> <type>"`, with ` o` behind where it is left out when
empty; the name `.` is an embedded struct. Types: `s` string, `i` number, `b` bool, `*T`, `[]T`, `{}T` (map), the name
of a struct, or `=<zero>` for what is shown as it stands in a manifest.

Usage: python scripts/internal_types.py <checkout of kubernetes/kubernetes> > src/sampan/registry/data/internal.json
"""

import json
import re
import sys
from pathlib import Path

META = "staging/src/k8s.io/apimachinery/pkg/apis/meta/v1"
_STRUCT = re.compile(r"^(?:type |\t)(\w+) struct \{\n(.*?)^\t?\}", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^(?:type |\t)(\w+) ((?:\[\]|map\[[\w.]+\]|\*)*[\w.]+)(?: // .*)?$", re.MULTILINE)
_FIELD = re.compile(r'^\s*(?:(\w+) +)?([\w.\[\]*]+)(?:\s+`[^`]*?json:"([^"]*)"[^`]*`)?\s*(?://.*)?$')
_IMPORT = re.compile(r'^\s*(?:import )?(?:(\w+) )?"k8s\.io/(?:kubernetes/pkg/apis/)?([^"]+)"', re.MULTILINE)
_BASIC = {"string": "s", "bool": "b", "byte": "s"} | dict.fromkeys(
    ("int", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float64"), "i"
)
_ZEROS = {
    "Quantity": '="0"',
    "IntOrString": "=0",
    "Time": "=null",
    "MicroTime": "=null",
    "Duration": "i",
} | dict.fromkeys(("UID", "NodeName"), "s")
_TAGGED = ("LabelSelector", "LabelSelectorRequirement", "ObjectMeta", "OwnerReference", "ManagedFieldsEntry")

Structs = dict[str, list[str]]


class Package:
    """The declarations of one package."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.structs: dict[str, tuple[str, dict[str, str]]] = {}
        self.named: dict[str, str] = {}
        for path in sorted(folder.glob("types*.go")):
            if path.name.endswith("_test.go"):
                continue
            text = path.read_text()
            imports = {alias or target.split("/")[-1]: target for alias, target in _IMPORT.findall(text)}
            for match in _STRUCT.finditer(text):
                self.structs[match[1]] = (match[2], imports)
            self.named.update(_NAMED.findall(_STRUCT.sub("", text)))


def main(root: Path) -> None:
    """Print the facts of one checkout as JSON."""
    packages = {folder.name: Package(folder.name, folder) for folder in sorted((root / "pkg/apis").iterdir())}
    packages["meta"] = Package("meta", root / META)
    found: Structs = {}
    for package in packages.values():
        for name, (body, _) in package.structs.items():
            if package.name != "meta" and "metav1.TypeMeta" in body and "metav1.ObjectMeta" in body:
                _collect(packages, package, name, found)
    json.dump(dict(sorted(found.items())), sys.stdout, indent=0, separators=(",", ":"))
    sys.stdout.write("\n")


def _collect(packages: dict[str, Package], package: Package, name: str, found: Structs) -> None:
    key = f"{package.name}.{name}"
    if key in found:
        return
    fields: list[str] = []
    found[key] = fields
    body, imports = package.structs[name]
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match is None or line.strip().startswith("//"):
            continue
        member, kind, tag = match.groups()
        json_name, _, options = (tag or "").partition(",")
        shown = _type(packages, package, imports, kind, found)
        if member is None or "inline" in options:
            if not kind.endswith("TypeMeta"):
                fields.append(f". {shown}")
        elif json_name != "-":
            fields.append(f"{json_name or member} {shown}{' o' if 'omitempty' in options else ''}")


def _type(packages: dict[str, Package], package: Package, imports: dict[str, str], kind: str, found: Structs) -> str:
    for prefix, mark in (("*", "*"), ("[]", "[]")):
        if kind.startswith(prefix):
            inner = _type(packages, package, imports, kind[len(prefix) :], found)
            return "*s" if kind == "[]byte" else mark + inner
    if kind.startswith("map["):
        return "{}" + _type(packages, package, imports, kind[kind.index("]") + 1 :], found)
    if kind in _BASIC:
        return _BASIC[kind]
    alias, _, name = kind.rpartition(".")
    if alias:
        target = imports.get(alias, "").split("/")
        home = "meta" if alias == "metav1" else target[-1]
        if name in _ZEROS or home not in packages:
            return _ZEROS.get(name, "={}")
        package = packages[home]
    if name in package.structs:
        if package.name == "meta" and name not in _TAGGED:
            return _ZEROS.get(name, "={}")
        _collect(packages, package, name, found)
        return f"{package.name}.{name}"
    return _type(packages, package, imports, package.named[name], found) if name in package.named else "={}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
