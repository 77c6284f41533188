"""The JavaScript of the page: short files, no markup from texts, no code from texts, every text in the catalogue."""

import re
from pathlib import Path

import pytest

from tests.style.sources import ROOT, name_of, text_of

WEB = ROOT / "web" / "src"
SCRIPTS = sorted(WEB.rglob("*.js"))
STYLES = sorted(WEB.rglob("*.css"))
LINES_MAX = 200
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "misc"}
UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function\b|"
    r"createContextualFragment|DOMParser|srcdoc|javascript:|setTimeout\(\s*[\"'`]|\bon[a-z]+=[\"'`]"
)
TEMPLATE = re.compile(r"(?<![`\w])html`")
ATTRIBUTES = re.compile(r'\b(?:aria-label|title|placeholder|alt)="([^"]*[A-Za-z][^"]*)"')
NAMES = {"Sampan", "YAML", "Esc", "Enter", "Ctrl K"}
"""Texts that are the same in every language."""
SHARED = {"popover", "visually-hidden"}
"""Classes of elements out of the flow that several folders use."""


def templates(text: str) -> list[str]:
    """Return the markup of the templates of a file, without the values in them."""
    found = []
    for start in TEMPLATE.finditer(text):
        depth, i, markup = 0, start.end(), ""
        while i < len(text) and not (depth == 0 and text[i] == "`"):
            if text.startswith("${", i):
                depth, i = depth + 1, i + 1
                markup += "\0"
            elif depth and text[i] in "{}":
                depth += 1 if text[i] == "{" else -1
            elif not depth:
                markup += text[i]
            i += 1
        found.append(markup)
    return found


def literal_texts(text: str) -> list[str]:
    """Return texts between tags, and in attributes that people read."""
    found = []
    for markup in templates(text):
        between = re.sub(r"<[^<>]*>", "\1", markup.replace("=>", "  "))
        found += [part.strip(" \n()·:\0") for part in re.split("[\0\1]", between)]
        found += ATTRIBUTES.findall(markup)
    return [each for each in found if re.search("[A-Za-z]", each) and each not in NAMES]


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=name_of)
def test_a_file_is_short(path: Path) -> None:
    assert len(text_of(path).splitlines()) <= LINES_MAX


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_texts_never_become_markup_or_code(path: Path) -> None:
    assert UNSAFE.findall(text_of(path)) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_every_text_is_in_the_catalogue(path: Path) -> None:
    assert literal_texts(text_of(path)) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_file_begins_with_its_purpose(path: Path) -> None:
    assert text_of(path).startswith(("/** ", "/**\n", "// "))


def test_a_literal_text_is_found() -> None:
    assert literal_texts('html`<p title="Close it">${t("a")} and more</p>`') == ["and more", "Close it"]


def test_a_name_of_a_file_is_a_noun_in_snake_case() -> None:
    names = [path.relative_to(WEB).with_suffix("").as_posix() for path in SCRIPTS]
    assert [name for name in names if not re.fullmatch(r"[a-z0-9_/]+", name)] == []
    assert [name for name in names if FORBIDDEN_NAMES & set(name.split("/"))] == []


def test_the_lock_file_has_no_addresses_of_packages() -> None:
    assert '"resolved"' not in (ROOT / "web" / "package-lock.json").read_text()


def catalogue_keys(name: str) -> set[str]:
    """Return the keys of the texts of a language."""
    return {
        key
        for path in (WEB / "texts").glob(f"{name}*.js")
        for key in re.findall(r'^  "([\w.]+)":', text_of(path), re.MULTILINE)
    }


def test_each_text_is_translated() -> None:
    assert catalogue_keys("zh_cn") == catalogue_keys("en")


def test_each_text_is_used_and_exists() -> None:
    source = "\n".join(text_of(path) for path in SCRIPTS if path.parent.name != "texts")
    keys = catalogue_keys("en")
    used = set(re.findall(r'"([a-z_]+(?:\.[\w]+)+)"', source))
    prefixes = {each.partition("$")[0] for each in re.findall(r"`([a-z_]+\.(?:[a-z_]+\.)?\$\{)", source)}
    assert {key for key in keys if key not in used and not key.startswith(tuple(prefixes))} == set()
    topics = {key.split(".")[0] for key in keys}
    assert {each for each in used if each.split(".")[0] in topics and not each.endswith(".k8s.io")} - keys == set()


def test_a_class_that_takes_elements_out_of_the_flow_belongs_to_one_folder() -> None:
    selectors = re.findall(r"([^{}]+)\{[^{}]*position: (?:absolute|fixed)", "\n".join(map(text_of, STYLES)))
    placed = {name for each in selectors for name in re.findall(r"(?:^|,)\s*\.([a-z-]+)\s*(?=,|$)", each)}
    folders: dict[str, set[str]] = {name: set() for name in placed}
    for path in SCRIPTS:
        for attribute in re.findall(r'class=(?:"([^"]*)"|\$\{`([^`]*)`\})', text_of(path)):
            for name in placed.intersection(re.findall(r"[a-z-]+", " ".join(attribute))):
                folders[name].add(path.parent.name)
    assert {name for name, found in folders.items() if len(found) > 1} == SHARED
