"""`Page`: machines, files and commands of a page of Markdown.

The table of machines, a block ```` ```yaml ```` whose first line names a file, and blocks ```` ```console ```` count;
all else is for readers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.blocks.document import INDENTED, Block, blocks

_ROW: Final = re.compile(r"\| `([a-z0-9-]+)` \|(.*)\|")
_FILE: Final = re.compile(r"# ([\w./-]+)")
_PROMPT: Final = re.compile(r"([a-z0-9-]*)\$ (.*)")
_LINK: Final = re.compile(r"\[[^]]+\]\(([^()\s]+)\)")
_MORE: Final = "> "
_CODE: Final = re.compile(r"\(exit (\d+)\)")
_UNTIL: Final = re.compile(r"\s+# wait until$")


@dataclass(frozen=True)
class Machine:
    """A machine of a page."""

    name: str
    parts: Sequence[str]
    """Parts that are there before the first command: `containerd`, names of images."""

    @property
    def has_containerd(self) -> bool:
        """Return True if containerd runs on the machine."""
        return "containerd" in self.parts

    @property
    def images(self) -> Sequence[str]:
        """Names of the images that containerd has."""
        return [part for part in self.parts if ":" in part]


@dataclass(frozen=True)
class File:
    """A file that the user writes into the home directory of all machines."""

    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command with the output that the page shows."""

    machine: str
    """Name of the machine; empty for the first one."""
    text: str
    output: Sequence[str]
    code: int | None
    """Exit code. None: a command that shows output may also fail with that output. -1: any."""
    is_repeated: bool
    """Repeat the command until it prints the shown output."""
    line: int

    @property
    def is_background(self) -> bool:
        """Return True if the command leaves a program that runs on."""
        return self.text.rstrip().endswith("&")


@dataclass(frozen=True)
class Page:
    """A page."""

    machines: Sequence[Machine]
    steps: Sequence[File | Command]


def read(path: Path) -> Page:
    """Read a page, or the document whose link is all of its text. Raises `ValueError` with the line of an error."""
    text = path.read_text()
    link = _LINK.fullmatch(text.strip())
    return parse((path.parent / link[1]).read_text() if link else text)


def parse(text: str) -> Page:
    """Return the page of a text. Raises `ValueError` with the line of an error."""
    lines = text.splitlines()
    machines = [Machine(row[1], _parts(row[2])) for line in lines if (row := _ROW.fullmatch(line))]
    if not machines:
        raise ValueError("line 1: no table of machines")
    names = {"", *(machine.name for machine in machines)}
    steps: list[File | Command] = []
    for block in blocks(lines):
        if block.language == "console":
            steps += commands(block, names)
        elif block.language != INDENTED and (file := file_of(block)):
            steps.append(file)
    return Page(machines, steps)


def _parts(cell: str) -> Sequence[str]:
    return [part.strip(" `") for part in cell.split(",") if part.strip()]


def file_of(block: Block) -> File | None:
    """Return the file that a block is, if its first line is the file's name after `# `."""
    named = _FILE.fullmatch(block.lines[0]) if block.lines else None
    return File(named[1], "\n".join(block.lines[1:]) + "\n", block.line) if named else None


def commands(found: Block, machines: set[str]) -> Iterator[Command]:
    """Yield the commands of a block. Raises `ValueError` if it does not start with one."""
    block, first = found.lines, found.line
    starts = [place for place, line in enumerate(block) if _prompt(line, machines)]
    if block and starts[:1] != [0]:
        raise ValueError(f"line {first}: a block starts with a command, after `$ ` or `MACHINE$ `")
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        prompt = _prompt(block[start], machines)
        assert prompt is not None
        words, output = [prompt[2]], list(block[start + 1 : end])
        while output and (output[0].startswith(_MORE) or output[0] == _MORE.strip()):
            words.append(output.pop(0)[len(_MORE) :])
        ended = _CODE.fullmatch(output[-1]) if output else None
        text = "\n".join(words)
        yield Command(
            machine=prompt[1],
            text=_UNTIL.sub("", text),
            output=output[:-1] if ended else output,
            code=int(ended[1]) if ended else 0,
            is_repeated=bool(_UNTIL.search(text)),
            line=first + start,
        )


def _prompt(line: str, machines: set[str]) -> "re.Match[str] | None":
    found = _PROMPT.fullmatch(line)
    return found if found and found[1] in machines else None
