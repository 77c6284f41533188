"""Pages of the site: files of the repository, and pages that are generated from the code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scripts.site.page import Page, page_from
from scripts.site.places import ROOT
from scripts.translations.page import with_banner

_ROOT_PAGES: Final = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")


def pages_of_files() -> Iterator[Page]:
    """Yield the pages that are files."""
    documents = [
        *(ROOT / name for name in _ROOT_PAGES),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").glob("*/README.md")),
    ]
    for document in documents:
        yield page_of_file(document)


def page_of_file(document: Path, *, is_listed: bool = True) -> Page:
    """Return the page of a Markdown file. A stale translation has a banner."""
    source = document.relative_to(ROOT).as_posix()
    return page_from(source, with_banner(source, document.read_text()), is_listed=is_listed)


def generated_page(path: str, text: str, source: str = "") -> Page:
    """Return a page that is made from the code. Its links are relative to a file, by default of this path in docs."""
    return Page(path, source or f"docs/{path}", text, is_generated=True)


def index_of_decisions() -> Page:
    """Return the page of the folder docs/adr: all decisions with their titles."""
    documents = sorted((ROOT / "docs" / "adr").glob("*.md"))
    lines = ["# Decisions", "", "Expensive decisions, each with an example, figures and what was tried.", ""]
    lines += [f"- [{page_of_file(document).title}]({document.name})" for document in documents]
    return generated_page("adr/index.md", "\n".join(lines) + "\n", "docs/adr/README.md")
