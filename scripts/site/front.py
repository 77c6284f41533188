"""Front pages: what Sampan is, for whom, a result in 30 seconds, a picture. Commands and figures come from README."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scripts.site.code import code_block
from scripts.site.drawing import drawing
from scripts.site.front_texts import TEXTS, Texts
from scripts.site.kinds import KINDS
from scripts.site.labels import LABELS
from scripts.site.layout import Layout
from scripts.site.navigation import Section
from scripts.site.places import ROOT, html_of, language_of, relative, translation_of

FRONTS: Final = tuple(TEXTS)
_FACTS: Final = {
    "conformance": re.compile(r"all (?P<value>\d+) conformance tests of Kubernetes (?P<version>\d+\.\d+)"),
    "start": re.compile(r"a cluster in (?P<value>\d+ ms)"),
    "creates": re.compile(r"(?P<value>[\d,]+) creates and"),
    "memory": re.compile(r"gets a second in (?P<value>\d+ MB)"),
}


def front_page(path: str, sections: Sequence[Section], layout: Layout) -> str:
    """Return the document of a front page."""
    texts = TEXTS[path]
    place = html_of(path)
    language = language_of(path)

    def link(target: str) -> str:
        translated = translation_of(target)
        chosen = translated if language != "en" and translated in layout.paths else target
        return relative(html_of(chosen), place)

    values = {
        "title_text": html.escape(texts.title),
        "lead": html.escape(texts.lead),
        "start": texts.start,
        "start_href": link("book/index.md"),
        "install": texts.install,
        "install_href": link("installing.md"),
        "result": texts.result,
        "result_note": texts.result_note,
        "session": code_block(session(), "console"),
        "facts": "".join(_facts(texts)),
        "readers_title": texts.readers_title,
        "readers": "".join(_card(link(each.path), each.title, each.text) for each in texts.readers),
        "picture_title": texts.picture_title,
        "picture_text": html.escape(texts.picture_text),
        "picture_more": texts.picture_more,
        "picture_href": link("reading/index.md"),
        "drawing": drawing(texts.drawing),
        "kinds_title": texts.kinds_title,
        "kinds": "".join(
            _card(link(section.pages[0].path), LABELS[language][section.kind], texts.kinds[section.kind])
            for section in sections
        ),
    }
    return layout.frame(path, f"Sampan · {texts.title}", texts.lead, "front", "front.html", values)


def markdown_of_front(path: str) -> str:
    """Return a front page in Markdown."""
    texts = TEXTS[path]
    root = "../" * path.count("/")
    lines = ["---", f"title: Sampan: {texts.title}", f"language: {language_of(path)}", "---", ""]
    lines += [f"# {texts.title}", "", texts.lead, "", f"## {texts.result}", "", texts.result_note, ""]
    lines += ["```console", *session().splitlines(), "```", "", f"## {texts.readers_title}", ""]
    lines += [f"- [{each.title}]({root}{each.path}): {each.text}" for each in texts.readers]
    lines += ["", f"## {texts.picture_title}", "", texts.picture_text, "", f"## {texts.kinds_title}", ""]
    lines += [f"- {LABELS[language_of(path)][kind]}: {texts.kinds[kind]}" for kind in KINDS]
    return "\n".join(lines) + "\n"


def session() -> str:
    """Return the first commands of README, with their output: a server, a new kind and an object of it."""
    lines = _readme().splitlines()
    start = next(line for line in lines if line.startswith("    make up"))
    command, _, output = start.strip().partition("#")
    shown = [f"$ {command.strip()}", output.partition("prints: ")[2].partition(" (")[0]]
    first = next(number for number, line in enumerate(lines) if line.startswith("    export KUBECONFIG"))
    for line in lines[first:]:
        text = line.strip()
        if not text or " patch " in text:
            break
        shown.append(text[2:] if text.startswith("# ") else f"$ {text}")
    return "\n".join(shown) + "\n"


def facts() -> Mapping[str, Mapping[str, str]]:
    """Return the figures that README states, by name. A figure that it states no more is absent."""
    text = " ".join(_readme().split())
    found = {name: pattern.search(text) for name, pattern in _FACTS.items()}
    return {name: match.groupdict() for name, match in found.items() if match}


def _readme() -> str:
    return (ROOT / "README.md").read_text()


def _facts(texts: Texts) -> Iterator[str]:
    for name, values in facts().items():
        yield f"<div><dt>{html.escape(texts.facts[name].format(**values))}</dt><dd>{values['value']}</dd></div>"


def _card(href: str, title: str, text: str) -> str:
    return f'<a class="card" href="{href}"><strong>{html.escape(title)}</strong><span>{html.escape(text)}</span></a>\n'
