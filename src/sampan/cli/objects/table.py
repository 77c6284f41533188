"""Tables as kubectl prints them: columns three spaces apart, without rules; coloured on terminals."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import click

Cells = Sequence[str]

_GAP = 3
_WIDTH_MIN = 6
_COLOURS = {
    "green": "Running Ready Active Bound Completed Succeeded Available Established True Complete Normal",
    "yellow": "Pending Terminating ContainerCreating Unknown Released Warning Suspended Waiting Progressing",
    "red": "Failed Error CrashLoopBackOff ImagePullBackOff ErrImagePull OOMKilled Evicted Lost NotReady False",
}
_BY_WORD = {word: colour for colour, words in _COLOURS.items() for word in words.split()}
_COLOURED_COLUMNS = frozenset(["STATUS", "READY", "PHASE", "CONDITION", "TYPE", "AVAILABLE", "ESTABLISHED"])
_breaks = re.compile(r"[\n\r\f\t\v]")


class TablePrinter:
    """Prints rows below a header. It keeps the column widths, so that the rows of a watch stay aligned."""

    def __init__(self, *, headers: bool = True, colours: bool = False) -> None:
        self._headers = headers
        self._colours = colours
        self._names: Cells = ()
        self._widths: list[int] = []

    @property
    def names(self) -> Cells:
        """Header of the rows that are being printed."""
        return self._names

    def continues(self, names: Cells) -> bool:
        """Return True if rows with this header can follow without a new header."""
        return list(names) == list(self._names)

    def print(self, names: Cells, rows: Iterable[Cells]) -> None:
        """Print rows, after a header if its names are new."""
        lines = [[_one_line(cell) for cell in row] for row in rows]
        header = self._headers and not self.continues(names)
        if not self.continues(names):
            self._names, self._widths = list(names), [_WIDTH_MIN - _GAP] * len(names)
        for line in [list(names), *lines] if header else lines:
            self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, line, strict=True)]
        if header:
            click.echo(self._line(list(names), bold=True), color=self._colours)
        for line in lines:
            click.echo(self._line(line), color=self._colours)

    def _line(self, cells: list[str], *, bold: bool = False) -> str:
        padded = [cell.ljust(width + _GAP) for cell, width in zip(cells, self._widths, strict=True)]
        padded[-1] = cells[-1]
        if not self._colours:
            return "".join(padded)
        if bold:
            return click.style("".join(padded), bold=True)
        return "".join(_coloured(name, text) for name, text in zip(self._names, padded, strict=True))


def _coloured(column: str, text: str) -> str:
    if column.upper() not in _COLOURED_COLUMNS:
        return text
    word = text.rstrip()
    colour = _BY_WORD.get(word) or _share_colour(word)
    return click.style(text, fg=colour) if colour else text


def _share_colour(word: str) -> str:
    """Return the colour of a share such as `2/3`."""
    there, slash, desired = word.partition("/")
    if not (slash and there.isdecimal() and desired.isdecimal()):
        return ""
    return "green" if there == desired else "yellow"


def _one_line(text: str) -> str:
    return _breaks.sub(lambda found: repr(found.group())[1:-1], text)


def cell_text(value: Any) -> str:
    """Return the text of a cell of a server's Table."""
    if value is None:
        return "<none>"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(cell_text, value))
    return str(value)
