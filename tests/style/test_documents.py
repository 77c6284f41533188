"""Documents: relative links and the code paths of ARCHITECTURE.md exist."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.site.views import definitions

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")],
)
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE_PATH = re.compile(r"`([a-z][a-z0-9_]*/[a-z0-9_/]*(?:\.py)?)`")


def anchors_of(document: Path) -> set[str]:
    """Return the anchors that Markdown renderers give to the headings, or the site to the definitions of a module."""
    if document.suffix == ".py":
        return {name for _, name in definitions(document.read_text())}
    found: set[str] = set()
    used: Counter[str] = Counter()
    for heading in HEADING.findall(document.read_text()):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{anchor}-{used[anchor]}" if used[anchor] else anchor)
        used[anchor] += 1
    return found


def broken_links(document: Path) -> Iterator[str]:
    for target, anchor in LINK.findall(document.read_text()):
        if "://" in target:
            continue
        linked = document.parent / target if target else document
        if not linked.exists() or (anchor and anchor not in anchors_of(linked)):
            yield f"{target}#{anchor}" if anchor else target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_lead_to_a_file_and_a_heading(document: Path) -> None:
    assert list(broken_links(document)) == []


def test_code_paths_in_the_architecture_exist() -> None:
    paths = set(CODE_PATH.findall((ROOT / "ARCHITECTURE.md").read_text()))
    assert paths, "the pattern finds no path"
    assert [
        path for path in sorted(paths) if not any((base / path).exists() for base in (ROOT, ROOT / "src/sampan"))
    ] == []
