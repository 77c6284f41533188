"""`Block`: code of a document in Markdown. Fenced, indented and hidden blocks have code.

A hidden block is a comment that begins with `<!-- LANGUAGE`: readers need no set-up that tests need.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
INDENTED: Final = "indented"
"""Language of indented blocks: commands of a shell."""

_FENCE: Final = re.compile(r"( *)(`{3,})([\w-]*)\s*")
_HIDDEN: Final = re.compile(r"<!-- (console|python|yaml)")
_KEY_LENGTH: Final = 70


@dataclass(frozen=True)
class Block:
    """Code of a document."""

    language: str
    line: int
    """Number of the first line of code, from 1."""
    lines: Sequence[str]
    """Code without its indentation."""
    is_hidden: bool = False

    @property
    def text(self) -> str:
        """Code with line feeds."""
        return "\n".join(self.lines) + "\n"

    @property
    def key(self) -> str:
        """First line of code that is not empty, shortened: the name of the block in its document."""
        return next((short(line) for line in self.lines if line.strip()), "")


def short(line: str) -> str:
    """Return a line as it is in the list of exceptions."""
    return line.strip()[:_KEY_LENGTH].strip()


def documents() -> list[str]:
    """Return the documents with code, as paths from the root of the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    paths = (path.relative_to(ROOT) for path in found)
    return sorted(path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))


def blocks_of(document: str) -> list[Block]:
    """Return the blocks of a document in order. Raises `ValueError` with the line of an error."""
    return list(blocks((ROOT / document).read_text().splitlines()))


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of a text in order. Raises `ValueError` with the line of an error."""
    number = 0
    while number < len(lines):
        line = lines[number]
        if opened := _FENCE.fullmatch(line):
            end = _end(lines, number, opened[1] + opened[2])
            yield _block(opened[3], number + 1, end, lines, len(opened[1]))
            number = end
        elif hidden := _HIDDEN.fullmatch(line):
            end = _end(lines, number, "-->")
            yield _block(hidden[1], number + 1, end, lines, 0, is_hidden=True)
            number = end
        elif line.startswith("    ") and line.strip() and _may_begin(lines, number):
            end = _end_of_indented(lines, number)
            yield _block(INDENTED, number, end, lines, 4)
            number = end - 1
        number += 1


def _block(language: str, start: int, end: int, lines: Sequence[str], indent: int, *, is_hidden: bool = False) -> Block:
    code = [line[indent:] if not line[:indent].strip() else line for line in lines[start:end]]
    return Block(language, start + 1, code, is_hidden)


def _end(lines: Sequence[str], start: int, mark: str) -> int:
    for number in range(start + 1, len(lines)):
        if lines[number].rstrip() == mark:
            return number
    raise ValueError(f"line {start + 1}: the block has no end")


def _may_begin(lines: Sequence[str], number: int) -> bool:
    """Return True if an indented line does not continue a paragraph or an item of a list."""
    before = number - 1
    if before >= 0 and lines[before].strip() and not lines[before].startswith("#"):
        return False
    while before >= 0 and not lines[before].strip():
        before -= 1
    return before < 0 or not re.match(r"\s*(?:[-*+]|\d+\.) ", lines[before])


def _end_of_indented(lines: Sequence[str], start: int) -> int:
    end = start
    for number in range(start, len(lines)):
        if lines[number].startswith("    ") and lines[number].strip():
            end = number + 1
        elif lines[number].strip():
            break
    return end
