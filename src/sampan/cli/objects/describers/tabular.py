"""Columns of lines whose cells are separated by tabs.

Neighbouring lines share the width of a column as long as all of them have a further cell after it. A line without a tab
therefore ends the columns above it. Source: Go's text/tabwriter with a padding of two spaces, as kubectl uses it.
"""

from collections.abc import Iterable

_PADDING = 2
_ESCAPED = str.maketrans({"\x1b": "^[", "\r": "\\r"})
"""Characters of objects that would control the terminal, and their visible forms."""


def align(lines: Iterable[str]) -> list[str]:
    """Return the lines with spaces in place of tabs, and without spaces at their ends.

    Escape sequences for terminals are made visible: objects may come from other users.
    """
    rows = [line.translate(_ESCAPED).split("\t") for line in lines]
    widths: list[list[int]] = [[] for _ in rows]
    for column in range(max(map(len, rows), default=0) - 1):
        start = 0
        for end in range(len(rows) + 1):
            if end < len(rows) and len(rows[end]) > column + 1:
                continue
            width = max((len(row[column]) for row in rows[start:end]), default=0) + _PADDING
            for each in widths[start:end]:
                each.append(width)
            start = end + 1
    return [_padded(row, width) for row, width in zip(rows, widths, strict=True)]


def _padded(row: list[str], widths: list[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
    return "".join([*cells, row[-1]]).rstrip()
