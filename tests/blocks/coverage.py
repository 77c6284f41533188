"""Place where the blocks of a document run: here, in another test, or nowhere, which is an exception."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.blocks.document import Block, blocks_of
from tests.blocks.elsewhere import ELSEWHERE, OWN_PAGES
from tests.blocks.shell import SHELL, key_of, steps, with_server
from tests.journeys.page import Command, File

EXCEPTIONS: Final = Path(__file__).with_name("exceptions.txt")
_PARSED: Final = frozenset({"yaml", "toml", "json"})


def exceptions() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return document → key and reason of each of its exceptions. Raises `ValueError` for a line without a reason."""
    found: dict[str, list[tuple[str, str]]] = {}
    for number, line in enumerate(EXCEPTIONS.read_text().splitlines(), 1):
        document, _, rest = line.partition(" | ")
        key, separator, reason = rest.rpartition(" | ")
        if not separator or not reason.strip():
            raise ValueError(f"exceptions.txt:{number}: expected DOCUMENT | FIRST LINE OF BLOCK OR COMMAND | REASON")
        found.setdefault(document, []).append((key, reason))
    return found


def is_elsewhere(document: str, block: Block) -> bool:
    """Return True if another test runs the block."""
    return document in OWN_PAGES or block.language in ELSEWHERE.get(document, {})


def run_here(document: str) -> list[Block]:
    """Return the blocks of a document that run here. Commands that are exceptions are in them."""
    left = Counter(key for key, _ in exceptions().get(document, ()))
    found = []
    for block in blocks_of(document):
        if is_elsewhere(document, block):
            continue
        if block.language not in SHELL and left[block.key]:
            left[block.key] -= 1
        else:
            found.append(block)
    return found


def steps_here(document: str) -> list[File | Command]:
    """Return the files and commands of a document without the commands that are exceptions."""
    blocks = run_here(document)
    left = Counter(key for key, _ in exceptions().get(document, ()))
    left -= Counter(each.key for each in blocks_of(document) if each not in blocks)
    found: list[File | Command] = []
    for step in steps(blocks):
        key = "" if isinstance(step, File) else key_of(step)
        if left[key]:
            left[key] -= 1
        else:
            found.append(step)
    return list(with_server(found))


def keys_of(document: str) -> Counter[str]:
    """Return what an exception of a document can name: blocks that are no commands, and commands."""
    blocks = [each for each in blocks_of(document) if not is_elsewhere(document, each)]
    found = [each.key for each in blocks if each.language not in SHELL]
    return Counter([*found, *(key_of(each) for each in steps(blocks) if isinstance(each, Command))])


def is_known(block: Block) -> bool:
    """Return True if this package can run the block."""
    return block.language in SHELL | _PARSED | {"python"}
