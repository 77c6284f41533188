"""Make the table of the protobuf codec: `src/sampan/wire/protobuf/messages.json`.

Two collections of facts meet here. The first (a JSON file: package -> message -> field -> [number, type], where `[]`
means repeated and `map[k]v` a map) says how a message is numbered. The second, the tags of the Go structs, says what
their JSON looks like: the name of each field, whether it is a pointer, whether it is left out when empty, and whether
it is embedded. The result has one line per message; each field is [number, JSON name, type, flags], the flags being
`p` (pointer), `o` (omitempty), `z` (omitzero) and `i` (inline).

Usage: python scripts/protobuf_table.py <facts.json> <checkout of kubernetes/kubernetes>
"""

import json
import re
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src/sampan/wire/protobuf/messages.json"
LEFT_OUT = ("k8s.io.apimachinery.pkg.apis.testapigroup.", "k8s.io.api.imagepolicy.")
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(?:\w+\s+)?([\w.\[\]*]+)\s+`([^`]*)`")
_TAG = re.compile(r'(json|protobuf):"([^"]*)"')
_GROUP = re.compile(r'^const GroupName(?: string)? = "([^"]*)"', re.MULTILINE)

Facts = dict[str, dict[str, dict[str, tuple[int, str]]]]
Field = tuple[int, str, str, str]
Tags = dict[int, tuple[str, str]]


def main(facts: Path, root: Path) -> None:
    """Write the table."""
    packages: Facts = json.loads(facts.read_text())
    groups: dict[str, str] = {}
    messages: dict[str, list[Field]] = {}
    for package, found in packages.items():
        if package.startswith(LEFT_OUT):
            continue
        folder = root / "staging/src" / _folder(package)
        structs = _structs(folder)
        group = _group(folder)
        if group is not None:
            groups[f"{group}/{folder.name}".removeprefix("/")] = short(package)
        for message, fields in found.items():
            messages[f"{short(package)}.{message}"] = _fields(message, fields, structs)
    lines = [f"{json.dumps(name)}:{json.dumps(fields, separators=(',', ':'))}" for name, fields in messages.items()]
    body = ",\n".join(lines)
    TARGET.write_text(f'{{"groups":{json.dumps(groups, indent=0)},\n"messages":{{\n{body}\n}}}}\n')


def short(name: str) -> str:
    """Packages without what all of them share: `core.v1`, `meta.v1`, `runtime`."""
    for prefix in ("k8s.io.apimachinery.pkg.apis.", "k8s.io.apimachinery.pkg.api.", "k8s.io.apimachinery.pkg.util."):
        name = name.replace(prefix, "")
    name = name.replace("k8s.io.apiextensions_apiserver.pkg.apis.", "").replace("k8s.io.kube_aggregator.pkg.apis.", "")
    return name.replace("k8s.io.apimachinery.pkg.", "").replace("k8s.io.api.", "")


def _folder(package: str) -> str:
    return package.replace("k8s.io.", "k8s.io/", 1).replace(".", "/").replace("k8s/io", "k8s.io").replace("_", "-")


def _group(folder: Path) -> str | None:
    register = folder / "register.go"
    if not register.exists() or ("/api/" not in folder.as_posix() and "/pkg/apis/" not in folder.as_posix()):
        return None
    match = _GROUP.search(register.read_text())
    return match[1] if match is not None else None


def _structs(folder: Path) -> dict[str, Tags]:
    """Message -> number -> (JSON name, flags)."""
    found: dict[str, Tags] = {}
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith("_test.go") or path.name.startswith(("zz_", "generated")):
            continue
        for match in _STRUCT.finditer(path.read_text()):
            found[match[1]] = dict(_members(match[2]))
    return found


def _members(body: str) -> list[tuple[int, tuple[str, str]]]:
    members = []
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match is None:
            continue
        tags = dict(_TAG.findall(match[2]))
        if "protobuf" not in tags or "json" not in tags:
            continue
        name, *options = tags["json"].split(",")
        flags = "p" if match[1].startswith("*") else ""
        flags += "o" if "omitempty" in options else ""
        flags += "z" if "omitzero" in options else ""
        flags += "i" if not name and "inline" in options else ""
        members.append((int(tags["protobuf"].split(",")[1]), (name, flags)))
    return members


def _fields(message: str, fields: dict[str, tuple[int, str]], structs: dict[str, Tags]) -> list[Field]:
    known = structs.get(message, {})
    result: list[Field] = []
    for name, (number, type_) in sorted(fields.items(), key=lambda field: field[1][0]):
        json_name, flags = known.get(number, (name, ""))
        if number not in known:
            sys.stderr.write(f"{message}.{name}: no struct tells its JSON form\n")
        result.append((number, json_name, short(type_), flags))
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
