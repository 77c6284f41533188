"""Blocks of translated pages: those of their sources. Remarks behind commands, `  # …`, may be translated."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scripts.translations.page import Translation, translations

from tests.blocks.document import INDENTED, ROOT, Block, blocks, blocks_of

TRANSLATIONS: Final = {each.page: each for each in translations()}

_REMARK: Final = re.compile(r"\s{2,}# .*")


def code_of(block: Block) -> tuple[str, Sequence[str]]:
    """Return the language and the lines of a block, without remarks."""
    return block.language, [_REMARK.sub("", line).rstrip() for line in block.lines]


def differences(translation: Translation) -> Iterator[str]:
    """Yield messages about blocks of a page that are not those of its source, in order.

    A page that is stale may lack new blocks of its source.
    """
    left = blocks_of(translation.source)
    for block in blocks_of(translation.page):
        if translation.is_stale:
            while left and code_of(left[0]) != code_of(block):
                left.pop(0)
        if not left or code_of(left.pop(0)) != code_of(block):
            yield f"{translation.page}:{block.line}: {translation.source} has another block here: {block.key}"
    if left and not translation.is_stale:
        yield f"{translation.page}: lacks the block of {translation.source}:{left[0].line}: {left[0].key}"


def with_blocks_of(text: str, source: str) -> str:
    """Return the text of a page with the code of its source, if both have as many blocks. Remarks that fit stay."""
    lines, ours, theirs = text.splitlines(), list(blocks(text.splitlines())), list(blocks(source.splitlines()))
    if [each.language for each in ours] != [each.language for each in theirs]:
        return text
    for old, new in reversed(list(zip(ours, theirs, strict=True))):
        if code_of(old) != code_of(new):
            fence = lines[old.line - 2]
            indent = "    " if old.language == INDENTED else fence[: len(fence) - len(fence.lstrip())]
            lines[old.line - 1 : old.line - 1 + len(old.lines)] = [f"{indent}{line}".rstrip() for line in new.lines]
    return "\n".join(lines) + "\n"


def follow_source(document: str) -> Iterator[str]:
    """Copy the changed code of a document into its translations. Yield the changed pages."""
    for each in TRANSLATIONS.values():
        if each.source == document:
            path = ROOT / each.page
            before = path.read_text()
            after = with_blocks_of(before, (ROOT / document).read_text())
            path.write_text(after)
            if after != before:
                yield each.page
