"""Manifests from files, folders and standard input (`-`). URLs are not supported.

Source: cli-runtime pkg/resource/builder.go (1.36).
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sampan.resource import Object
from sampan.wire import json, yaml
from sampan.wire.json import DecodeError

_SUFFIXES = (".json", ".yaml", ".yml")
_separator = re.compile(rb"^---(?:[ \t].*)?\r?$", re.MULTILINE)


class ManifestError(ValueError):
    """Unreadable manifest. The message names the file."""


def read_manifests(paths: Sequence[str], *, recursive: bool = False) -> list[Object]:
    """Return all objects of the files, in order; lists are replaced by their items. Raises `ManifestError`."""
    objects = [obj for path in paths for name, body in _bodies(path, recursive) for obj in parse(name, body)]
    if not objects:
        raise ManifestError(f"no objects passed: {', '.join(paths)} holds none")
    return objects


def _bodies(path: str, recursive: bool) -> Iterator[tuple[str, bytes]]:
    if path == "-":
        yield "STDIN", sys.stdin.buffer.read()
        return
    where = Path(path)
    if where.is_dir():
        inside = where.rglob("*") if recursive else where.iterdir()
        files = sorted(file for file in inside if file.is_file() and file.suffix in _SUFFIXES)
        if not files:
            raise ManifestError(f"error reading {[path]}: recognized file extensions are {list(_SUFFIXES)}")
    elif where.is_file():
        files = [where]
    elif path.startswith(("http://", "https://")):
        raise ManifestError(f"{path}: URLs are not supported; download the file and use -f -")
    else:
        raise ManifestError(f'the path "{path}" does not exist')
    for file in files:
        yield str(file), file.read_bytes()


def parse(name: str, body: bytes) -> Iterator[Object]:
    """Yield the objects of one file. `name` is for errors. Raises `ManifestError`."""
    for number, document in enumerate(_separator.split(body)):
        try:
            value = json.decode(document) if document.lstrip().startswith(b"{") else yaml.decode(document)
        except DecodeError as error:
            hint = " (YAML is indented with spaces, not tabs)" if _has_tab(document) else ""
            raise ManifestError(f"error parsing {name}: document {number + 1}: {error}{hint}") from error
        if value is None:
            continue
        yield from _objects(name, value)


_has_tab = re.compile(rb"^ *\t", re.MULTILINE).search


def _objects(name: str, value: object) -> Iterator[Object]:
    if not isinstance(value, dict):
        raise ManifestError(f"error parsing {name}: an object must be a map, not {type(value).__name__}")
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str) or not value[field]:
            raise ManifestError(f"error parsing {name}: {field} is missing in {_short(value)}")
    metadata = value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ManifestError(f"error parsing {name}: metadata must be a map in {_short(value)}")
    for field in ("name", "generateName", "namespace"):
        if not isinstance(metadata.get(field) or "", str):
            # YAML decodes unquoted values such as y, no and 5 as booleans or numbers.
            raise ManifestError(
                f"error parsing {name}: metadata.{field} must be a string (put it in quotes) in {_short(value)}"
            )
    if value["kind"].endswith("List") and isinstance(value.get("items"), list):
        for item in value["items"]:
            yield from _objects(name, item)
    else:
        yield value


def _short(value: Object) -> str:
    text = json.encode(value).decode()
    return f"'{text if len(text) <= 120 else text[:117] + '...'}'"
