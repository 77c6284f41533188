"""The commands of each document print what it shows, on a new machine."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.blocks.coverage import run_here
from tests.blocks.document import documents
from tests.blocks.follow import follow, page_of
from tests.journeys.page import Command


def documents_with_commands() -> list[str]:
    """Return the documents whose commands run here."""
    return [each for each in documents() if any(isinstance(step, Command) for step in page_of(each).steps)]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("document", documents_with_commands())
def test_commands_of_a_document_print_what_it_shows(document: str) -> None:
    if os.geteuid() or not all(shutil.which(name) for name in ("kubectl", "unshare", "ip")):
        pytest.skip("needs root, kubectl, unshare and ip")
    with tempfile.TemporaryDirectory(prefix="block-", ignore_cleanup_errors=True) as root:
        differing = follow(document, Path(root))
    assert not differing, "stale output; review the changes of `make docs-update`:\n" + "\n".join(map(str, differing))


def test_documents_with_commands_are_found() -> None:
    assert run_here("README.md")
    assert "README.md" in documents_with_commands()
