"""Replaces stale output in documents by what the commands print: python -m tests.blocks.update [DOCUMENT...]."""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.blocks.document import ROOT, documents
from tests.blocks.follow import follow, page_of
from tests.blocks.translated import follow_source
from tests.journeys.page import Command
from tests.journeys.walk import Differing, JourneyError


def update(text: str, differing: Iterable[Differing]) -> str:
    """Return the text of a document with the found output in place of the shown one."""
    lines = text.splitlines()
    for each in sorted(differing, key=lambda found: -found.command.line):
        start = each.command.line + each.command.text.count("\n")
        first = lines[start] if each.command.output and start < len(lines) else ""
        if each.command.output[0] not in first:
            print(f"line {each.command.line}: correct this by hand\n{each}", file=sys.stderr)
            continue
        before = first[: first.index(each.command.output[0])]
        found = [f"{before}{line}".rstrip() for line in each.output.splitlines()]
        lines[start : start + len(each.command.output)] = found
    return "\n".join(lines) + "\n"


def main(chosen: Iterable[str]) -> int:
    """Update documents and the code of their translations. Return 1 if a command fails."""
    code = 0
    for document in chosen:
        if any(isinstance(step, Command) for step in page_of(document).steps):
            code |= _update(document)
        for page in follow_source(document):
            print(f"{page}: code of {document} copied")
    return code


def _update(document: str) -> int:
    """Update a document. Return 1 if a command fails."""
    with tempfile.TemporaryDirectory(prefix="block-", ignore_cleanup_errors=True) as root:
        try:
            differing = follow(document, Path(root))
        except JourneyError as error:
            print(f"{document}, {error}", file=sys.stderr)
            return 1
    if differing:
        path = ROOT / document
        path.write_text(update(path.read_text(), differing))
        print(f"{document}: {len(differing)} outputs replaced")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or documents()))
