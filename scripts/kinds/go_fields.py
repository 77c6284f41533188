"""Make `fields.json`: how Kubernetes' Go types hold their JSON fields.

The published schemas do not show which fields are pointers, which are left out when empty and how Go names their types.
Decoding as kube-apiserver does needs all three. The result maps definition -> field -> "<flags> <Go type>". The flags
are those of `go_types.Member.flags`.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from scripts.kinds.go_types import Member, Package, Struct, read_package, struct_of
from scripts.kinds.sources import Sources

_ROOTS: Final = {
    ("api", ""): "io.k8s.api",
    ("apimachinery", "pkg/apis/meta"): "io.k8s.apimachinery.pkg.apis.meta",
    ("apimachinery", "pkg/version"): "io.k8s.apimachinery.pkg.version",
    ("apiextensions-apiserver", "pkg/apis/apiextensions"): "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    ("kube-aggregator", "pkg/apis/apiregistration"): "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}
"""(module, folder) -> what the names of its definitions start with."""

_TYPE_META = "metav1.TypeMeta"
"""apiVersion and kind, which every object has."""
_QUALIFIER = re.compile(r"\b(\w+)\.(?=\w)")
_LOCAL = re.compile(r"(?<![\w.])([A-Z]\w*)")


def content(sources: Sources) -> bytes:
    """Return the content of `fields.json`."""
    found = {
        name: {member.json_name: f"{member.flags} {_type(member, struct)}" for struct, member in fields}
        for name, fields in sorted(declared_fields(sources).items())
        if name in sources.definitions and fields
    }
    return json.dumps(found, indent=0, separators=(",", ":")).encode() + b"\n"


def declared_fields(sources: Sources) -> dict[str, list[tuple[Struct, Member]]]:
    """Return the JSON fields of each definition's Go type, each with the struct that declares it."""
    found = {}
    for (module, folder), prefix in _ROOTS.items():
        base = sources.modules[module] / folder
        for path in sorted({path.parent for path in base.rglob("*.go")}):
            relative = path.relative_to(base).as_posix().replace("/", ".")
            name = prefix if relative == "." else f"{prefix}.{relative}"
            package = read_package(path)
            for type_name in (*package.structs, *package.named):
                found[f"{name}.{type_name}"] = list(_fields(sources, package, type_name))
    return found


def _fields(sources: Sources, package: Package, type_name: str) -> Iterator[tuple[Struct, Member]]:
    struct = struct_of(package, type_name, sources.folder_of)
    if struct is None:
        return
    for member in struct.members:
        if "json" not in member.tags or member.type == _TYPE_META:
            continue
        if "inline" in member.json_options or not member.json_name:
            yield from _fields(sources, read_package(struct.folder), member.type)
        elif member.json_name != "-":
            yield struct, member


def _type(member: Member, struct: Struct) -> str:
    qualified = _LOCAL.sub(rf"{struct.folder.name}.\1", member.type.lstrip("*"))
    return _QUALIFIER.sub(lambda found: struct.imports.get(found[1], found[1]).rpartition("/")[2] + ".", qualified)
