"""Every block of the documents runs in a test, or is an exception with a reason; the exceptions do not increase."""

from collections import Counter
from pathlib import Path

import pytest

from tests.blocks.coverage import exceptions, is_known, keys_of, run_here
from tests.blocks.document import ROOT, blocks_of, documents
from tests.blocks.elsewhere import ELSEWHERE, OWN_PAGES

EXCEPTIONS_MAX = 161
"""Number of exceptions. Lower it with each block that runs; never raise it."""


@pytest.mark.parametrize("document", documents())
def test_each_block_of_a_document_can_run(document: str) -> None:
    unknown = [(each.line, each.language or "no language") for each in run_here(document) if not is_known(each)]
    assert not unknown, f"a block of {document} has no test; see docs/development.md, Blocks of code in documents"


@pytest.mark.parametrize("document", sorted(exceptions()))
def test_each_exception_is_a_block(document: str) -> None:
    listed = Counter(key for key, _ in exceptions()[document])
    assert not listed - keys_of(document), "remove the exceptions that no block has"


def test_the_number_of_exceptions_is_the_limit() -> None:
    assert sum(map(len, exceptions().values())) == EXCEPTIONS_MAX, "set EXCEPTIONS_MAX to the lower number"


@pytest.mark.parametrize(
    ("document", "file"),
    sorted(
        {(document, file) for document, files in ELSEWHERE.items() for file in files.values()} | set(OWN_PAGES.items())
    ),
)
def test_a_test_of_blocks_elsewhere_reads_their_document(document: str, file: str) -> None:
    path = ROOT / "tests" / file
    sources = [path, *path.parent.glob("recipe.py")] if document == "docs/recipes.md" else [path]
    assert (
        path.samefile(ROOT / document)
        or any(Path(document).stem in each.read_text() for each in sources)
        or Path(document).parent.name in path.read_text()
    )


def test_languages_elsewhere_are_languages_of_the_document() -> None:
    for document, files in ELSEWHERE.items():
        assert set(files) <= {each.language for each in blocks_of(document)}, document
