"""Read the type declarations of a Go package: structs with their fields and tags, and types with another name.

Understands gofmt-formatted declarations of API types, not Go in general.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_STRUCT = re.compile(r"^(?:type |\t)(\w+) struct \{\n(.*?)^\t?\}", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^(?:type |\t)(\w+) (?:= )?((?:\[\]|map\[[\w.]+\]|\*)*[\w.]+)(?: *//.*)?$", re.MULTILINE)
_FIELD = re.compile(r"^\s*(?:(\w+) +)?([\w.\[\]*]+)(?:\s+`([^`]*)`)?\s*(?://.*)?$")
_TAG = re.compile(r'(\w+):"([^"]*)"')
_IMPORT = re.compile(r'^(?:import|\t)\s*(?:(\w+) )?"([^"]+)"', re.MULTILINE)
_GATE = re.compile(r"^\s*// ?\+featureGate=(\w+)")
_MADE_BY_TOOLS = ("zz_", "generated")

Imports = Mapping[str, str]
"""Name of an imported package in a file -> its path."""


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a struct. An embedded struct has no `name`. `gates` are the feature gates that its comment names."""

    name: str
    type: str
    tags: Mapping[str, str]
    gates: tuple[str, ...]

    @property
    def json_name(self) -> str:
        """The name in JSON; empty if the struct is embedded or the field has no JSON tag."""
        return self.tags.get("json", "").partition(",")[0]

    @property
    def json_options(self) -> list[str]:
        """The options after the name: `omitempty`, `omitzero`, `inline`."""
        return self.tags.get("json", "").split(",")[1:]

    @property
    def flags(self) -> str:
        """Representation of the field: `p` pointer, `o` left out when empty, `z` left out when zero."""
        marks = {"p": self.type.startswith("*"), "o": "omitempty" in self.json_options}
        marks["z"] = "omitzero" in self.json_options
        return "".join(flag for flag, is_set in marks.items() if is_set)


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct, the folder of its package and the imports of the file that declares it."""

    name: str
    folder: Path
    members: tuple[Member, ...]
    imports: Imports


@dataclass(frozen=True, slots=True)
class Package:
    """The declarations of one package. `named` maps a type to the type that it is declared as, `v1.MatchCondition`."""

    folder: Path
    structs: Mapping[str, Struct]
    named: Mapping[str, str]
    imports: Imports
    """The imports of all files."""


@cache
def read_package(folder: Path, pattern: str = "*.go") -> Package:
    """Return the declarations of the files in a folder that match a pattern, without tests and generated files."""
    structs: dict[str, Struct] = {}
    named: dict[str, str] = {}
    all_imports: dict[str, str] = {}
    for path in sorted(folder.glob(pattern)):
        if path.name.endswith("_test.go") or path.name.startswith(_MADE_BY_TOOLS):
            continue
        text = path.read_text()
        imports = {alias or target.rpartition("/")[2]: target for alias, target in _IMPORT.findall(text)}
        all_imports.update(imports)
        for match in _STRUCT.finditer(text):
            structs[match[1]] = Struct(match[1], folder, _members(match[2]), imports)
        named.update(_NAMED.findall(_STRUCT.sub("", text)))
    return Package(folder, structs, named, all_imports)


def struct_of(package: Package, name: str, folder_of: Callable[[str], Path | None]) -> Struct | None:
    """Return the struct that a name in a package stands for: declared there, imported, or declared as another struct.

    None: the name is no struct, or its package is not at hand. `folder_of` returns the folder of an imported path.
    """
    alias, _, local = name.rpartition(".")
    if alias:
        folder = folder_of(package.imports.get(alias, ""))
        return struct_of(read_package(folder), local, folder_of) if folder is not None else None
    if local in package.structs:
        return package.structs[local]
    return struct_of(package, package.named[local], folder_of) if local in package.named else None


def _members(body: str) -> tuple[Member, ...]:
    members = []
    gates: list[str] = []
    for line in body.splitlines():
        gate = _GATE.match(line)
        if gate is not None:
            gates.append(gate[1])
        if line.strip().startswith("//"):
            continue
        match = _FIELD.match(line)
        if match is not None:
            members.append(Member(match[1] or "", match[2], dict(_TAG.findall(match[3] or "")), tuple(gates)))
        gates = []
    return tuple(members)
