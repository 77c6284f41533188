"""Make `messages.json`, the table of the protobuf codec.

`generated.proto` has the number and type of each field, the tags of the Go structs what their JSON looks like. The
result has one line for each message; each field is [number, JSON name, type, flags]. `[]` before a type means repeated,
`map[k]v` a map. The flags are those of `go_types.Member.flags`, and `i` for an embedded struct.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scripts.kinds.go_types import Package, read_package, struct_of
from scripts.kinds.sources import Sources

_MODULES: Final = ("api", "apiextensions-apiserver", "apimachinery", "kube-aggregator")
_LEFT_OUT: Final = ("k8s.io.apimachinery.pkg.apis.testapigroup.", "k8s.io.api.imagepolicy.")
_SHORTER: Final = (
    "k8s.io.apimachinery.pkg.apis.",
    "k8s.io.apimachinery.pkg.api.",
    "k8s.io.apimachinery.pkg.util.",
    "k8s.io.apiextensions_apiserver.pkg.apis.",
    "k8s.io.kube_aggregator.pkg.apis.",
    "k8s.io.apimachinery.pkg.",
    "k8s.io.api.",
)
OWN_JSON: Final = {
    "Duration",
    "ExtraValue",
    "FieldsV1",
    "IntOrString",
    "JSONSchemaPropsOrArray",
    "JSONSchemaPropsOrBool",
    "JSONSchemaPropsOrStringArray",
    "MicroTime",
    "Quantity",
    "QuantityValue",
    "Time",
    "Unknown",
    "Verbs",
}
"""Messages that are no structs in Go, or structs with special JSON: `wire/protobuf` has code for each."""

_PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(?:(optional|repeated) )?(map<\w+, [\w.]+>|[\w.]+) (\w+) = (\d+);")
_MAP = re.compile(r"map<(\w+), ([\w.]+)>")
_GROUP = re.compile(r'^const GroupName(?: string)? = "([^"]*)"', re.MULTILINE)
_SCALARS: Final = {"string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double", "float"}

Row = tuple[int, str, str, str]
"""Number, JSON name, type, flags."""


class UnknownMessage(Exception):
    """No Go struct shows the JSON form of a message, and the message is not in `OWN_JSON`."""


class ProtoField(NamedTuple):
    """A field of a message."""

    number: int
    name: str
    type: str


def content(sources: Sources) -> bytes:
    """Return the content of `messages.json`. Raises `UnknownMessage`."""
    groups: dict[str, str] = {}
    messages: dict[str, list[Row]] = {}
    for package, path in sorted(_documents(sources)):
        group = _group(path.parent)
        if group is not None:
            groups[f"{group}/{path.parent.name}".removeprefix("/")] = _short(package)
        for message, fields in _read(path, package):
            messages[f"{_short(package)}.{message}"] = list(_rows(sources, path.parent, message, fields))
    lines = [f"{json.dumps(name)}:{json.dumps(rows, separators=(',', ':'))}" for name, rows in messages.items()]
    body = ",\n".join(lines)
    return f'{{"groups":{json.dumps(groups, indent=0)},\n"messages":{{\n{body}\n}}}}\n'.encode()


def _documents(sources: Sources) -> Iterator[tuple[str, Path]]:
    for module in _MODULES:
        for path in sources.modules[module].rglob("generated.proto"):
            match = _PACKAGE.search(path.read_text())
            if match is not None and not match[1].startswith(_LEFT_OUT):
                yield match[1], path


def _read(path: Path, package: str) -> Iterator[tuple[str, list[ProtoField]]]:
    for name, body in _MESSAGE.findall(path.read_text()):
        found = filter(None, map(_FIELD.match, body.splitlines()))
        yield name, sorted(ProtoField(int(match[4]), match[3], _type(match[1], match[2], package)) for match in found)


def _type(label: str | None, written: str, package: str) -> str:
    entry = _MAP.fullmatch(written)
    if entry is not None:
        return f"map[{entry[1]}]{_full(entry[2], package)}"
    return ("[]" if label == "repeated" else "") + _full(written, package)


def _full(name: str, package: str) -> str:
    """Return the short name of a type. Types of other packages start with a dot."""
    if name in _SCALARS:
        return name
    return _short(name.removeprefix(".") if name.startswith(".") else f"{package}.{name}")


def _short(name: str) -> str:
    """Return a name without the start that many packages share: `core.v1`, `meta.v1`, `runtime`."""
    for prefix in _SHORTER:
        name = name.removeprefix(prefix)
    return name


def _group(folder: Path) -> str | None:
    register = folder / "register.go"
    match = _GROUP.search(register.read_text()) if register.exists() else None
    return match[1] if match is not None else None


def _rows(sources: Sources, folder: Path, message: str, fields: list[ProtoField]) -> Iterator[Row]:
    package = read_package(folder)
    known = _tags(sources, package, message)
    for field in fields:
        if field.number not in known and message not in OWN_JSON:
            raise UnknownMessage(
                f"{folder}: no Go field has the number of {message}.{field.name}; if {message} is no struct in Go, add "
                "it to OWN_JSON in scripts/kinds/messages.py, and its JSON form to wire/protobuf"
            )
        json_name, flags = known.get(field.number, (field.name, ""))
        yield field.number, json_name, field.type, flags


def _tags(sources: Sources, package: Package, message: str) -> dict[int, tuple[str, str]]:
    """Return number -> (JSON name, flags) of a message's struct."""
    struct = struct_of(package, message, sources.folder_of)
    found = {}
    for member in struct.members if struct is not None else ():
        if "protobuf" in member.tags and "json" in member.tags:
            inline = "i" if not member.json_name and "inline" in member.json_options else ""
            found[int(member.tags["protobuf"].split(",")[1])] = (member.json_name, member.flags + inline)
    return found
