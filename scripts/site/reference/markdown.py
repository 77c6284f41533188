"""Parts of Markdown pages: tables, cells, anchors and links."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

Row = Sequence[str]
_ESCAPES: Final = str.maketrans({"<": "&lt;", ">": "&gt;", "*": "\\*"})


def table(head: Row, rows: Iterable[Row]) -> list[str]:
    """Return the lines of a table. Cells may contain Markdown, and newlines become spaces."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(_line(row) for row in rows)]


def _line(row: Row) -> str:
    cells = [re.sub(r"\s+", " ", cell).strip().replace("|", "\\|") for cell in row]
    return re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cells)} |")


def code(text: str) -> str:
    """Return a text as code in a line; "" for an empty text."""
    if "`" in text:
        return f"`` {text} ``"
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Escape what a Markdown renderer could interpret as HTML or emphasis, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.translate(_ESCAPES) for part in parts)


def anchor(heading: str) -> str:
    """Return the anchor that Markdown renderers give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(text: str, target: str, page: str) -> str:
    """Return a link from a page to another one. Both are paths below the root of the site; the target may have an
    anchor.
    """
    path, hash_, name = target.partition("#")
    relative = "" if path == page else posixpath.relpath(path, posixpath.dirname(page) or ".")
    return f"[{text}]({relative}{hash_}{name})"


def document(lines: Iterable[str]) -> str:
    """Join the lines of a page."""
    return "\n".join(lines).rstrip() + "\n"
