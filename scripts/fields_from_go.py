"""Collect how Kubernetes' Go types hold their JSON fields: `src/sampan/registry/data/fields.json`.

The published schemas do not say which fields are pointers, which are left out when empty and what Go calls their types;
decoding as kube-apiserver does needs all three. The result maps definition -> field -> "<flags> <Go type>", where the
flags are `p` (pointer), `o` (omitempty) and `z` (omitzero).

Usage: python scripts/fields_from_go.py <checkout of kubernetes/kubernetes> > src/sampan/registry/data/fields.json
"""

import json
import re
import sys
from pathlib import Path

PACKAGES = {
    "api": "io.k8s.api",
    "apimachinery/pkg/apis/meta": "io.k8s.apimachinery.pkg.apis.meta",
    "apimachinery/pkg/version": "io.k8s.apimachinery.pkg.version",
    "apiextensions-apiserver/pkg/apis/apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "kube-aggregator/pkg/apis/apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\s*(?:(\w+)\s+)?([\w.\[\]*]+)\s+`.*?json:"([^"]*)"')
_QUALIFIER = re.compile(r"\b(\w+)\.(?=\w)")
_LOCAL = re.compile(r"(?<![\w.])([A-Z]\w*)")
_IMPORT = re.compile(r'^\s*(?:import )?(\w+) "([^"]+)"', re.MULTILINE)

Fields = dict[str, str]


def main(root: Path) -> None:
    """Print the facts of one checkout as JSON."""
    found: dict[str, Fields] = {}
    for folder, prefix in PACKAGES.items():
        base = root / "staging/src/k8s.io" / folder
        for package in sorted({path.parent for path in base.rglob("*.go")}):
            relative = package.relative_to(base).as_posix().replace("/", ".")
            found.update(_package(package, prefix if relative == "." else f"{prefix}.{relative}"))
    published = json.loads((root / "api/openapi-spec/swagger.json").read_text())["definitions"]
    kept = {name: fields for name, fields in sorted(found.items()) if name in published}
    json.dump(kept, sys.stdout, indent=0, separators=(",", ":"))
    sys.stdout.write("\n")


def _package(folder: Path, name: str) -> dict[str, Fields]:
    structs: dict[str, list[tuple[str, str, str, bool]]] = {}
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith("_test.go") or path.name.startswith(("zz_", "generated")):
            continue
        text = path.read_text()
        imports = {alias: target.rpartition("/")[2] for alias, target in _IMPORT.findall(text)}
        for match in _STRUCT.finditer(text):
            structs[match[1]] = _members(match[2], imports, name.rpartition(".")[2])
    return {f"{name}.{struct}": fields for struct in structs if (fields := _flatten(struct, structs))}


def _members(body: str, imports: dict[str, str], package: str) -> list[tuple[str, str, str, bool]]:
    members = []
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match is None:
            continue
        name, *options = match[3].split(",")
        go_type = match[2]
        pointer = go_type.startswith("*")
        go_type = _LOCAL.sub(rf"{package}.\1", go_type.lstrip("*"))
        go_type = _QUALIFIER.sub(lambda found: imports.get(found[1], found[1]) + ".", go_type)
        flags = (
            ("p" if pointer else "") + ("o" if "omitempty" in options else "") + ("z" if "omitzero" in options else "")
        )
        members.append((name, flags, go_type, "inline" in options or not name))
    return members


def _flatten(struct: str, structs: dict[str, list[tuple[str, str, str, bool]]]) -> Fields:
    fields: Fields = {}
    for name, flags, go_type, inline in structs[struct]:
        if inline:
            embedded = go_type.rpartition(".")[2]
            fields.update(_flatten(embedded, structs) if embedded in structs else {})
        elif name != "-":
            fields[name] = f"{flags} {go_type}"
    return fields


if __name__ == "__main__":
    main(Path(sys.argv[1]))
