"""Build hook: turns the JSON schemas of `kubernetes-validate` into `src/sampan/registry/data/schemas.bin`.

Only the build needs that package; the wheel carries the one compact file. The build undoes what that data did to the
types: "null" beside every optional type, and enums of apiVersion and kind. It adds the facts that the data lacks: Go's
representation of each field (`fields.json`) and the defaults (`defaults.json`).

The file: three sections, each a little-endian uint32 length and a zlib stream.
1. index: JSON `{"definitions": {name: [offset, length]}, "descriptions": {...}, "kinds": {"group/version/kind": name}}`
2. definitions: JSON objects, concatenated, without descriptions
3. descriptions: JSON objects `{"": of the type, field: of the field}`, concatenated
Run `python hatch_build.py` to write it by hand.

The hook also builds the web page of the server, from `web/`, if there are Node.js and its packages. Otherwise it prints
what is missing, and the server reports at `/dashboard/` how to build the page.
"""

import importlib.metadata
import json
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VERSION_FILE = "src/sampan/core/kubernetes_version.py"
TARGET = "src/sampan/registry/data/schemas.bin"
PAGE = "src/sampan/server/dashboard/static"
_VERSION = re.compile(r'^KUBERNETES_VERSION\b.* = "([\d.]+)"', re.MULTILINE)
_REF = "#/$defs/"
_OPENAPI_REF = "#/definitions/"

Json = dict[str, Any]

_SCALARS: dict[str, Json] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "description": "An exact amount: a number with a suffix, such as 100m, 1.5Gi or 2e3.",
        "oneOf": [{"type": "string"}, {"type": "number"}],
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "description": "A 32-bit integer or a string, such as a port's number or name, or a count or a percentage.",
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
}


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it before each build, editable ones included."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: Json) -> None:
        """Write the file, or keep the one that is there when its source is not installed, and add it to the build."""
        try:
            build(Path(self.root))
        except importlib.metadata.PackageNotFoundError:
            if not (Path(self.root) / TARGET).exists():
                raise
        build_page(Path(self.root))
        build_data["artifacts"] += ["/" + TARGET, f"/{PAGE}/*"]


def build(root: Path) -> None:
    """Write `schemas.bin` below the project's root."""
    data = root / "src/sampan/registry/data"
    fields = json.loads((data / "fields.json").read_text())
    defaults = json.loads((data / "defaults.json").read_text())
    (root / TARGET).write_bytes(packed(normalized(_source(kubernetes_version(root))), fields, defaults))


def build_page(root: Path) -> None:
    """Build the web page. An unbuilt or older page is no error: the server works without it."""
    if not (root / "web").is_dir():
        return
    subprocess.run([sys.executable, "-m", "scripts.web", "--quiet"], cwd=root, check=False)


def normalized(source: dict[str, Json]) -> dict[str, Json]:
    """Return published definitions in the packed form: names as references, scalars as Sampan defines them."""
    return {name: _schema(_SCALARS.get(name, node)) for name, node in source.items()}


def packed(definitions: dict[str, Json], fields: Json, defaults: Json) -> bytes:
    """Add Go facts and defaults to normalized definitions, in place, and return the content of the packed file."""
    for name, node in definitions.items():
        _add_facts(node, fields.get(name, {}), defaults.get(name, {}), definitions)
    return _pack(definitions)


def kubernetes_version(root: Path) -> str:
    """Return the Kubernetes version that the package declares: `1.36.0`."""
    match = _VERSION.search((root / VERSION_FILE).read_text())
    if match is None:
        raise ValueError(f"{VERSION_FILE} declares no KUBERNETES_VERSION")
    return match[1]


def _source(version: str) -> dict[str, Json]:
    distribution = importlib.metadata.distribution("kubernetes-validate")
    path = f"kubernetes_validate/kubernetes-json-schema/v{version}-local/_definitions.json"
    text = Path(str(distribution.locate_file(path))).read_text()
    definitions: dict[str, Json] = json.loads(text)["$defs"]
    return definitions


def _schema(node: Json) -> Json:
    """Return a copy in OpenAPI's terms: one type, no added enums, `$ref` by the definition's bare name."""
    result: Json = {}
    for key, value in node.items():
        if key == "enum":
            continue
        if key == "$ref":
            result["$ref"] = value.removeprefix(_REF).removeprefix(_OPENAPI_REF)
        elif key == "type" and isinstance(value, list):
            result["type"] = next(item for item in value if item != "null")
        elif key == "properties":
            result[key] = {name: _schema(child) for name, child in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            result[key] = _schema(value)
        else:
            result[key] = value
    return result


def _add_facts(node: Json, fields: dict[str, str], defaults: Json, definitions: dict[str, Json]) -> None:
    for name, child in node.get("properties", {}).items():
        fact = fields.get(name)
        if fact is not None:
            child["x-go"] = fact
            zero_value = zero(child, fact, definitions)
            if zero_value is not None:
                child["default"] = zero_value
        if name in defaults:
            child["default"] = defaults[name]


def zero(node: Json, fact: str, definitions: dict[str, Json]) -> Any:
    """Return the default that Kubernetes publishes for a field that is no pointer; None if it publishes none."""
    flags, _, _ = fact.partition(" ")
    if "p" in flags:
        return None
    if "$ref" in node:
        target = definitions[node["$ref"]]
        return {} if target.get("type") == "object" and "properties" in target else None
    if "o" in flags or node.get("format") == "byte":
        return None
    return {"string": "", "boolean": False, "integer": 0, "number": 0}.get(node.get("type", ""))


def _pack(definitions: dict[str, Json]) -> bytes:
    kinds: dict[str, str] = {}
    schemas: dict[str, bytes] = {}
    texts: dict[str, bytes] = {}
    for name in sorted(definitions):
        node = definitions[name]
        gvks = node.get("x-kubernetes-group-version-kind", [])
        if len(gvks) == 1:
            gvk = gvks[0]
            kinds[f"{gvk['group']}/{gvk['version']}/{gvk['kind']}"] = name
        texts[name] = _dump(_take_descriptions(node))
        schemas[name] = _dump(node)
    index: Json = {"definitions": _offsets(schemas), "descriptions": _offsets(texts), "kinds": kinds}
    return b"".join(map(_section, (_dump(index), b"".join(schemas.values()), b"".join(texts.values()))))


def _take_descriptions(node: Json) -> dict[str, str]:
    texts = {"": node.pop("description", "")}
    for name, child in node.get("properties", {}).items():
        texts[name] = child.pop("description", "")
    return {name: text for name, text in texts.items() if text}


def _offsets(parts: dict[str, bytes]) -> dict[str, list[int]]:
    offsets = {}
    start = 0
    for name, part in parts.items():
        offsets[name] = [start, len(part)]
        start += len(part)
    return offsets


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _section(content: bytes) -> bytes:
    packed = zlib.compress(content, 9)
    return struct.pack("<I", len(packed)) + packed


if __name__ == "__main__":
    build(Path(__file__).parent)
