"""The Python reference in the site: signatures with links, and each name with its version and its source."""

import re

import pytest
from scripts.reference.definitions import public_names
from scripts.reference.packages import PACKAGES, anchor_of
from scripts.site.page import Page
from scripts.site.signatures import with_links

from tests.site.conftest import Built
from tests.site.test_pages import document


def section(built: Built, package: str, name: str) -> str:
    """Return the HTML of the section of a name."""
    text = document(built.folder / f"reference/{package}.html")
    start = text.index(f'<h2 id="{anchor_of(package, name)}">')
    return text[start : text.find("<h2 ", start + 1)]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_public_name_has_a_version_and_a_link_to_its_definition(built: Built, package: str) -> None:
    for name in public_names(package):
        found = re.search(
            r'<p>Since \d+\.\d+\.\d+\. <a href="\.\./(source/src/[^"#]+)#(\w+)">Source</a></p>',
            section(built, package, name),
        )
        assert found is not None, name
        [line] = re.findall(
            rf'<span class="line" id="L\d+">.*?<span id="{found[2]}"></span>(.*)', document(built.folder / found[1])
        )
        assert re.search(rf"\b{name}\b", re.sub(r"<[^>]+>", "", line))


def test_a_public_name_in_a_signature_is_a_link_to_its_section(built: Built) -> None:
    assert '<a href="#client">Client</a>' in section(built, "sampan.client", "connect")
    assert '<a href="sampan.client.html#client">Client</a>' in section(built, "sampan.operator", "Manager")


def test_only_signatures_of_the_reference_have_links_in_code() -> None:
    page = Page("operators.md", "docs/operators.md", "")
    assert with_links(page, "Client", "<code>Config</code>") == "<code>Config</code>"
    assert (
        with_links(Page("reference/sampan.client.md", "", ""), "connect", '<i title="Client">Any</i>')
        == '<i title="Client">Any</i>'
    )
