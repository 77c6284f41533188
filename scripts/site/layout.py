"""Pages as complete HTML documents, from the templates in `theme/`."""

import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from string import Template
from typing import Final

from scripts.site.labels import LABELS
from scripts.site.navigation import Group, Section
from scripts.site.page import Page
from scripts.site.places import CHINESE, THEME, html_of, language_of, relative, translation_of
from scripts.site.render import Heading, Rendered
from scripts.site.search import index_name

_IN_CONTENTS_MIN: Final = 2
_OPEN_MAX: Final = 30
"""Pages of a section whose groups are all open."""
_LISTED_MAX: Final = 100
"""Pages of a section that each of its pages lists."""
_READ_IN_ORDER: Final = ("book/", "reading/")


@dataclass(frozen=True)
class Layout:
    """What all pages share."""

    sections: Mapping[str, Sequence[Section]]
    """By language."""
    paths: frozenset[str]
    """Pages with HTML, as paths of their Markdown; front pages too."""
    edit_address: str = ""
    """Address before the path of a file in the repository, to change it; empty if there is none."""

    @cached_property
    def signature(self) -> str:
        """Text that changes with anything but the page itself that a document depends on."""
        entries = [
            (each.title, group.title, page.path, page.title)
            for language in sorted(self.sections)
            for each in self.sections[language]
            for group in each.groups
            for page in group.pages
        ]
        return hashlib.sha256(repr([entries, sorted(self.paths), self.edit_address]).encode()).hexdigest()

    def page(self, page: Page, rendered: Rendered) -> str:
        """Return the document of a page."""
        labels = LABELS[page.language]
        section = self._section_of(page)
        titles = [heading for heading in rendered.headings if heading.level in (2, 3)]
        values = {
            "groups": "".join(_groups(page, section)),
            "eyebrow": _eyebrow(page, section),
            "content": _with_contents(rendered.html, _toc_inline(titles, labels["on_page"])),
            "around": _around(page, section),
            "markdown_href": relative(page.path, page.html),
            "markdown_label": labels["markdown"],
            "edit": self._edit(page),
            "toc": _toc(titles, labels["on_page"]),
        }
        return self.frame(page.path, f"{page.title} · Sampan", page.description, page.kind, "page.html", values)

    def view(self, path: str, source: str, content: str) -> str:
        """Return the document of the view of a file."""
        labels = LABELS["en"]
        values = {
            "groups": "",
            "eyebrow": html.escape(source.rpartition("/")[0]),
            "content": content,
            "around": "",
            "markdown_href": relative(f"source/{source}", path),
            "markdown_label": labels["raw"],
            "edit": "",
            "toc": "",
        }
        name = source.rpartition("/")[2]
        return self.frame(path, f"{name} · Sampan", f"The file {source}.", "reference", "page.html", values, "wide")

    def frame(
        self,
        path: str,
        title: str,
        description: str,
        kind: str,
        template: str,
        values: Mapping[str, str],
        shape: str = "",
    ) -> str:
        """Return a document: header, the content of a template, footer. `path` is that of the page's Markdown."""
        place = path if path.endswith(".html") else html_of(path)
        language = language_of(path)
        labels = LABELS[language]
        root = "../" * place.count("/")
        shared = {
            **{name.replace("-", "_"): text for name, text in labels.items()},
            "language": language,
            "title": html.escape(title),
            "description": html.escape(description),
            "kind": kind,
            "shape": shape or template.removesuffix(".html"),
            "root": root,
            "markdown": relative(path if path.endswith(".md") else path.removesuffix(".html"), place),
            "index": " ".join(root + index_name(each) for each in dict.fromkeys((language, "en"))),
            "home": root + (f"{CHINESE}/index.html" if language == CHINESE else "index.html"),
            "home_label": labels["home"],
            "contents": root + "contents.html",
            "pages_label": labels["pages"],
            "kinds_label": labels["kinds"],
            "mark": _mark(),
            "tabs": "".join(self._tabs(place, language, kind)),
            **self._other_language(path, place, labels),
        }
        body = template_of(template).substitute({**shared, **values})
        return template_of("frame.html").substitute({**shared, "body": body})

    def _section_of(self, page: Page) -> Section | None:
        return next((each for each in self.sections.get(page.language, ()) if each.kind == page.kind), None)

    def _tabs(self, place: str, language: str, kind: str) -> Iterator[str]:
        for section in self._shown_sections[language]:
            first = section.pages[0]
            code = f' hreflang="{first.language}"' if first.language != language else ""
            current = ' aria-current="true"' if section.kind == kind else ""
            href = relative(first.html, place)
            yield f'<a href="{href}"{code}{current}>{LABELS[language][section.kind]}</a>'

    @cached_property
    def _shown_sections(self) -> Mapping[str, Sequence[Section]]:
        """Sections by language; those that no page of a language has are English."""
        found = {}
        for language, own in self.sections.items():
            by_kind = {section.kind: section for section in own}
            found[language] = [by_kind.get(section.kind, section) for section in self.sections["en"]]
        return found

    def _other_language(self, path: str, place: str, labels: Mapping[str, str]) -> Mapping[str, str]:
        other = translation_of(path)
        exists = other in self.paths
        if not exists:
            other = "index.md" if language_of(path) == CHINESE else f"{CHINESE}/index.md"
        href = relative(html_of(other), place)
        code = labels["language_code"]
        return {
            "other_href": href,
            "other_code": code,
            "other_name": labels["language"],
            "other_title": "" if exists else f' title="{labels["untranslated"]}"',
            "translation": f'<link rel="alternate" hreflang="{code}" href="{href}">\n' if exists else "",
        }

    def _edit(self, page: Page) -> str:
        if not self.edit_address or page.is_generated:
            return ""
        address = f"{self.edit_address.rstrip('/')}/{page.source}"
        return f' · <a href="{html.escape(address)}" rel="noopener">{LABELS[page.language]["edit"]}</a>'


def _groups(page: Page, section: Section | None) -> Iterator[str]:
    """Yield the groups of a section. In a large section, others than the group of the page are only a link."""
    is_large = section is not None and len(section.pages) > _LISTED_MAX
    for group in section.groups if section else ():
        if is_large and page not in group.pages:
            yield f'<p class="group"><a href="{relative(group.pages[0].html, page.html)}">{group.title}</a></p>\n'
            continue
        is_open = page in group.pages or (section is not None and len(section.pages) <= _OPEN_MAX)
        entries = "".join(_entries(page, group))
        yield f"<details{' open' if is_open else ''}><summary>{group.title}</summary><ul>{entries}</ul></details>\n"


def _entries(page: Page, group: Group) -> Iterator[str]:
    for each in group.pages:
        current = ' aria-current="page"' if each == page else ""
        yield f'<li><a href="{relative(each.html, page.html)}"{current}>{_with_breaks(each.title)}</a></li>'


def _eyebrow(page: Page, section: Section | None) -> str:
    group = next((group for group in section.groups if page in group.pages), None) if section else None
    first = f'<a href="{relative(section.pages[0].html, page.html)}">{section.title}</a>' if section else ""
    return " / ".join(part for part in (first, html.escape(group.title) if group else "") if part)


def _around(page: Page, section: Section | None) -> str:
    if section is None or not page.path.removeprefix(f"{CHINESE}/").startswith(_READ_IN_ORDER):
        return ""
    labels = LABELS[page.language]
    before, after = section.neighbours(page)
    links = "".join(
        f'<a class="{name}" rel="{rel}" href="{relative(each.html, page.html)}">'
        f"<span>{labels[label]}</span>{html.escape(each.title)}</a>"
        for name, rel, label, each in (("before", "prev", "previous", before), ("after", "next", "next", after))
        if each is not None
    )
    return f'<nav class="around" aria-label="{labels["previous"]}, {labels["next"]}">{links}</nav>'


def _toc(headings: Sequence[Heading], title: str) -> str:
    if len(headings) < _IN_CONTENTS_MIN:
        return ""
    return f'<nav class="toc" aria-label="{title}"><h2>{title}</h2><ul>{_toc_items(headings)}</ul></nav>'


def _toc_inline(headings: Sequence[Heading], title: str) -> str:
    if len(headings) < _IN_CONTENTS_MIN:
        return ""
    return f'<details class="toc-inline"><summary>{title}</summary><ul>{_toc_items(headings)}</ul></details>'


def _with_contents(content: str, contents: str) -> str:
    """Return a page with the contents for narrow windows below its title."""
    return content.replace("</h1>\n", f"</h1>\n{contents}\n", 1)


def _toc_items(headings: Iterable[Heading]) -> str:
    return "".join(
        f'<li class="level-{heading.level}"><a href="#{heading.anchor}">{_with_breaks(heading.text)}</a></li>'
        for heading in headings
    )


def _with_breaks(text: str) -> str:
    """Return a text in which long names may break between their parts."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z][._])(?=[a-z])", "<wbr>", html.escape(text))


@cache
def template_of(name: str) -> Template:
    """Return a template of the theme."""
    return Template((THEME / name).read_text())


@cache
def _mark() -> str:
    """Return the mark for the header, in the colour of the text around it."""
    drawing = (THEME / "sampan.svg").read_text()
    inner = drawing[drawing.index("<g ") : drawing.index("</svg>")]
    inner = inner.replace('class="h"', 'class="filled"')
    return f'<svg viewBox="0 0 32 32" aria-hidden="true">{inner}</svg>'
