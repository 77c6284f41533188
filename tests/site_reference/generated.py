"""All generated pages, made once for all tests of a process."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from scripts.site.reference import pages
from scripts.site.reference.markdown import anchor

_HEADING: Final = re.compile(r"^(#+) (.*)$", re.MULTILINE)
_BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_FIRST_CELL: Final = re.compile(r"^(?:\| (.*?) \||- (.*?):)", re.MULTILINE)


@cache
def generated() -> Mapping[str, str]:
    """Return the pages by their paths."""
    return pages()


def headings(text: str) -> list[tuple[int, str]]:
    """Return level and text of each heading outside of blocks."""
    return [(len(marks), title) for marks, title in _HEADING.findall(_BLOCK.sub("", text))]


def anchors(text: str) -> list[str]:
    """Return the anchors of the headings, in their order."""
    return [anchor(title) for _, title in headings(text)]


def names(text: str) -> set[str]:
    """Return the names in code in the first column of all tables, and at the beginning of all list items."""
    return {name for cell in _FIRST_CELL.findall(text) for name in re.findall(r"`([^`]+)`", "".join(cell))}
