"""The API reference: every public name has a docstring, and docs/reference has all of them."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from scripts.reference.definitions import Definition, Function, definition_of, members_of, public_names
from scripts.reference.packages import PACKAGES
from scripts.reference.pages import FOLDER, markdown, pages, purpose
from scripts.reference.since import FILE, record

WORDS_MIN = 2


def undocumented(package: str) -> Iterator[str]:
    for name in public_names(package):
        found = definition_of(package, name)
        for each, label in [(found, name), *((member, f"{name}.{member.name}") for member in _own(found))]:
            if len(each.doc.split()) < WORDS_MIN:
                yield label


def _own(definition: Definition) -> list[Definition]:
    """Return the methods and properties. A field may be clear from its name and type."""
    return [each for each in members_of(definition) if isinstance(each.node, Function)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring(package: str) -> None:
    assert list(undocumented(package)) == []


def test_the_reference_is_up_to_date() -> None:
    written = {file.name: file.read_text() for file in FOLDER.glob("*.md")}
    expected = pages()
    stale = sorted(name for name in {*written, *expected} if written.get(name) != expected.get(name))
    assert stale == [], "run `make reference`"


def test_the_versions_of_public_names_are_recorded() -> None:
    assert FILE.read_text() == record(), "run `make reference`"


def test_a_deprecated_name_is_marked_in_the_table_of_its_package() -> None:
    found = definition_of("sampan.client", "Client")
    doc = "Return it.\n\nDeprecated since 0.3: use `connect`."
    assert purpose(replace(found, doc=doc)) == "**Deprecated.** Return it."
    assert "Deprecated" not in purpose(found)


def test_an_indented_block_becomes_a_fenced_one() -> None:
    assert markdown("Use it:\n\n    a = 1\n\n    b = 2\n\nThen end.") == (
        "Use it:\n\n```\na = 1\n\nb = 2\n```\n\nThen end."
    )
