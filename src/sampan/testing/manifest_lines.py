"""Lines of a YAML file by the field paths of the server's errors."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

_STEP: Final = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_VALIDATION: Final = "spec.validation."
"""Path of the schema in errors about a CRD with one version."""


def place_of(source: object, name: str, field: str) -> str:
    """Return `FILE:LINE` of a field of the object `name` in a file or folder, or an empty text if it is not found.

    `field` is a path of the server (`spec.versions[0].schema.openAPIV3Schema.properties[spec].type`). If its end is
    missing in the file, the line is that of its last part that exists.
    """
    if not isinstance(source, str | Path) or "\n" in str(source):
        return ""
    where = Path(source)
    files = sorted(where.iterdir()) if where.is_dir() else [where]
    for file in files:
        if file.suffix in (".yaml", ".yml", ".json") and (line := _line(file, name, field)):
            return f"{file}:{line}"
    return ""


def _line(file: Path, name: str, field: str) -> int:
    try:
        documents = list(yaml.compose_all(file.read_text(), Loader=yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError):
        return 0
    if field.startswith(_VALIDATION):
        field = f"spec.versions[0].schema.{field.removeprefix(_VALIDATION)}"
    for document in documents:
        for root in _objects(document):
            found = _child(_child(root, "metadata"), "name")
            if found is not None and found.value == name:
                return _deepest(root, field)
    return 0


def _objects(document: Any) -> Iterator[Any]:
    items = _child(document, "items")
    yield from items.value if isinstance(items, yaml.SequenceNode) else [document]


def _deepest(node: Any, field: str) -> int:
    for match in _STEP.finditer(field):
        following = _child(node, match[1] or match[2])
        if following is None:
            break
        node = following
    line: int = node.start_mark.line + 1
    return line


def _child(node: Any, key: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for each, value in node.value if each.value == key), None)
    if isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
        return node.value[int(key)]
    return None
