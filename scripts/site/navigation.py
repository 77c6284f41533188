"""Pages in sections, one for each kind, and in groups. How-tos have the groups of docs/README.md: roles of readers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scripts.site.kinds import EXPLANATION, HOW_TO, KINDS, REFERENCE, TUTORIAL
from scripts.site.labels import LABELS
from scripts.site.page import Page, prose_lines
from scripts.site.places import CHINESE, page_path

_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)\)")
_OVERVIEW: Final = "Overview"
_FOLDERS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    TUTORIAL: (("book/", "The book"),),
    HOW_TO: (("contents.md", _OVERVIEW), ("examples/", "Examples")),
    REFERENCE: (
        ("reference/sampan.", "Python API"),
        ("reference/index.md", "Python API"),
        ("reference/cli/", "Commands"),
        ("reference/kinds/", "Kinds"),
        ("reference/types/", "Types of fields"),
        ("reference/", "Server"),
        ("configuration.md", "Server"),
        ("benchmarks", "Figures"),
    ),
    EXPLANATION: (
        ("reading/", "Reading guide"),
        ("compared-with/", "Comparisons"),
        ("adr/", "Decisions"),
    ),
}
_OTHER: Final = {
    TUTORIAL: "Tutorials",
    HOW_TO: "More how-tos",
    REFERENCE: "Words and changes",
    EXPLANATION: "Design and choice",
}
_CHINESE_NAMES: Final = {"The book": "入门书", "Reading guide": "阅读指南", "Tutorials": "教程"}
_ORDER: Final = {
    TUTORIAL: ("Tutorials", "The book"),
    REFERENCE: ("Commands", "Server", "Kinds", "Types of fields", "Python API", "Figures", "Words and changes"),
    EXPLANATION: ("Reading guide", "Comparisons", "Design and choice", "Decisions"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Pages under one heading of the navigation."""

    title: str
    pages: list[Page] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Section:
    """Pages of one kind in one language."""

    kind: str
    title: str
    groups: list[Group]

    @property
    def pages(self) -> list[Page]:
        """All pages, in order."""
        return [page for group in self.groups for page in group.pages]

    def neighbours(self, page: Page) -> tuple[Page | None, Page | None]:
        """Return the pages before and after a page in its group, if the group is read in order."""
        for group in self.groups:
            if page in group.pages:
                number = group.pages.index(page)
                after = group.pages[number + 1] if number + 1 < len(group.pages) else None
                return group.pages[number - 1] if number else None, after
        return None, None


def sections(pages: Sequence[Page], language: str, contents: Page) -> list[Section]:
    """Return the sections of a language. `contents` is docs/README.md."""
    roles = dict(_roles(contents))
    chapters = _chapters(pages)
    found = []
    for kind in KINDS:
        chosen = [page for page in pages if page.kind == kind and page.language == language and page.is_listed]
        groups = _groups(kind, chosen, roles, chapters)
        if groups:
            found.append(Section(kind, LABELS[language][kind], groups))
    return found


def _groups(
    kind: str, pages: Sequence[Page], roles: Mapping[str, tuple[int, str]], chapters: Mapping[str, int]
) -> list[Group]:
    groups: dict[str, Group] = {}

    def place(page: Page) -> tuple[bool, int, int, str]:
        in_role = roles[page.path][0] if page.path in roles else len(roles) + 1
        return not page.path.endswith("index.md"), chapters.get(page.path, len(chapters)), in_role, page.path

    for page in sorted(pages, key=place):
        title = _group_title(kind, page, roles)
        groups.setdefault(title, Group(title)).pages.append(page)
    order = _ORDER.get(kind) or [_OVERVIEW, *dict.fromkeys(role for _, role in roles.values())]
    names = [title for title in order if title in groups]
    return [groups[title] for title in [*names, *(title for title in groups if title not in names)]]


def _chapters(pages: Iterable[Page]) -> Mapping[str, int]:
    """Return the number of each page in the order of the links of its folder's index, which readers follow."""
    found: list[str] = []
    for page in pages:
        if page.path.endswith("/index.md"):
            folder = page.path.removesuffix("index.md")
            found += [folder + href for _, href in _LINK.findall(page.text) if "/" not in href]
    return {path: number for number, path in enumerate(dict.fromkeys(found))}


def _group_title(kind: str, page: Page, roles: Mapping[str, tuple[int, str]]) -> str:
    path = page.path.removeprefix(f"{CHINESE}/")
    title = next((title for prefix, title in _FOLDERS.get(kind, ()) if path.startswith(prefix)), "")
    if not title and kind == HOW_TO and page.path in roles:
        return roles[page.path][1]
    title = title or _OTHER[kind]
    return _CHINESE_NAMES.get(title, LABELS[CHINESE][kind]) if page.language == CHINESE else title


def _roles(contents: Page) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield each page that docs/README.md links to, with its number and the title of its group."""
    title, number = "", 0
    for line in prose_lines(contents.text):
        if line.startswith("## "):
            role = line[3:].removeprefix("I ")
            title = role[0].upper() + role[1:]
        group = "Migrate" if line.startswith("Migrations:") else title
        if not group:
            continue
        for _, href in _LINK.findall(line.split(" | ")[0] if line.startswith("|") else line):
            source = href[3:] if href.startswith("../") else f"docs/{href}"
            source += "" if source.endswith(".md") else "/README.md"
            number += 1
            yield page_path(source), (number, group)
