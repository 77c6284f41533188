"""`CustomColumns`: the format `-o custom-columns=NAME:.metadata.name,…`.

Source: kubectl pkg/cmd/get/customcolumn.go (1.36).
"""

import re
from collections.abc import Sequence
from typing import Any

from sampan.cli.objects.go_text import go_text
from sampan.core.json.path import JsonPath

_relaxed = re.compile(r"(?:\{\.?([^{}]+)\}|\.?([^{}]+))").fullmatch


class CustomColumns:
    """Columns with headers and paths. Raises `ValueError` for a malformed specification."""

    def __init__(self, names: Sequence[str], paths: Sequence[str]) -> None:
        self.names = tuple(names)
        self._paths = tuple(map(relaxed_path, paths))

    @classmethod
    def of(cls, text: str) -> "CustomColumns":
        """Return the columns of `HEADER:path,HEADER:path`."""
        if not text:
            raise ValueError("custom-columns format specified but no custom columns given")
        parts = [part.partition(":") for part in text.split(",")]
        for part, (_, colon, path) in zip(text.split(","), parts, strict=True):
            if not colon or not path:
                raise ValueError(f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
        return cls([name for name, _, _ in parts], [path for _, _, path in parts])

    @classmethod
    def of_template(cls, text: str) -> "CustomColumns":
        """Return the columns of a file: a line of headers and a line of paths."""
        lines = text.splitlines()
        if len(lines) < 2:
            raise ValueError("columns template format must contain a header line and a line of column specs")
        names, paths = lines[0].split(), lines[1].split()
        if len(names) != len(paths):
            raise ValueError(f"number of headers ({len(names)}) and field specifications ({len(paths)}) don't match")
        return cls(names, paths)

    def cells(self, obj: Any) -> list[str]:
        """Return the cells of an object."""
        return [",".join(map(go_text, path.find(obj))) or "<none>" for path in self._paths]


def relaxed_path(text: str) -> JsonPath:
    """Parse a path with or without braces and a leading dot. Raises `ValueError`."""
    match = _relaxed(text)
    if match is None:
        raise ValueError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    inside = match[1] or match[2]
    return JsonPath(inside if inside.startswith("[") else f".{inside}")
