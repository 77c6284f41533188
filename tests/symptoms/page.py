"""`symptoms`: sections of the page, with their commands and changes in order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.blocks.document import ROOT, Block, blocks
from tests.journeys.page import Command, File, commands, file_of

PAGE: Final = ROOT / "docs" / "when-it-goes-wrong.md"
PARTS: Final = ("**Cause**", "**Cure**")
"""Words before the command that shows the cause, and before what removes it."""


@dataclass(frozen=True)
class Change:
    """Change of a file: pairs of lines that it has, and those that replace them."""

    name: str
    pairs: Sequence[tuple[str, str]]
    line: int


@dataclass(frozen=True)
class Symptom:
    """A section of the page."""

    title: str
    text: str
    """Markdown below the heading."""
    steps: Sequence[Command | File | Change]


def symptoms() -> list[Symptom]:
    """Return the sections in order. Raises `ValueError` with the line of an error."""
    lines = PAGE.read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("### ")]
    ends = [number for number, line in enumerate(lines) if line.startswith(("## ", "### "))]
    found = []
    for start in starts:
        end = next((each for each in ends if each > start), len(lines))
        # Empty lines keep the numbers of the others.
        section = [*[""] * (start + 1), *lines[start + 1 : end]]
        found.append(Symptom(lines[start].removeprefix("### "), "\n".join(section), list(steps(section))))
    return found


def steps(lines: Sequence[str]) -> Iterator[Command | File | Change]:
    """Yield the steps of a section."""
    for block in blocks(lines):
        if block.language == "console":
            yield from commands(block, {""})
        elif block.language == "diff":
            yield change(block)
        elif file := file_of(block):
            yield file


def change(block: Block) -> Change:
    """Return the change of a block of language diff: `# FILE`, then hunks, with `@@` between them."""
    named = re.fullmatch(r"# ([\w./-]+)", block.lines[0])
    if named is None:
        raise ValueError(f"line {block.line}: the first line of a change is `# FILE`")
    hunks = [hunk.splitlines() for hunk in "\n".join(block.lines[1:]).split("@@\n")]
    return Change(named[1], [(_side(hunk, "+"), _side(hunk, "-")) for hunk in hunks], block.line)


def _side(hunk: Sequence[str], absent: str) -> str:
    return "".join(f"{line[1:]}\n" for line in hunk if not line.startswith(absent))
