"""Pages of the site: complete, of one kind each, with sound links, and readable by programs."""

import re
import zlib
from functools import cache
from pathlib import Path

import pytest
from scripts.site.check import faults_of
from scripts.site.front import facts, session
from scripts.site.glossary import Glossary
from scripts.site.kinds import KINDS, kind_of
from scripts.site.links import BrokenLink, Links
from scripts.site.page import page_from
from scripts.site.places import ROOT, page_path, translation_of
from scripts.site.render import BadHeading, render, slug

from tests.site.conftest import Built

NO_GLOSSARY = Glossary({"lease": "An object that one process renews."})


@cache
def document(path: Path) -> str:
    """Return the text of a page, read once."""
    return path.read_text()


def test_the_site_is_built_in_less_than_thirty_seconds(built: Built) -> None:
    assert built.seconds < 30


def test_each_document_is_a_page(built: Built) -> None:
    documents = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md"), ROOT / "README.md"]
    missing = [each for each in documents if not (built.folder / page_path(str(each.relative_to(ROOT)))).exists()]
    assert missing == []


def test_each_page_is_in_exactly_one_group_of_the_navigation(built: Built) -> None:
    found = [page.path for sections in built.site.sections.values() for each in sections for page in each.pages]
    assert sorted(found) == sorted(page.path for page in built.site.pages)


def test_each_page_states_one_kind(built: Built) -> None:
    for page in built.site.pages:
        document = (built.folder / page.html).read_text()
        assert re.findall(r'<meta name="kind" content="([\w-]+)">', document) == [page.kind], page.path
        assert (built.folder / page.path).read_text().count(f"\nkind: {page.kind}\n") == 1, page.path
    assert {page.kind for page in built.site.pages} == set(KINDS)


def test_each_document_states_its_kind() -> None:
    silent = [
        each
        for each in (ROOT / "docs").rglob("*.md")
        if "kind" not in page_from(each.name, document(each)).front_matter
    ]
    assert silent == [], "begin with front matter: kind: tutorial, how-to, reference or explanation"


def test_a_kind_in_front_matter_must_be_one_of_the_four() -> None:
    assert kind_of("running.md", {"kind": "reference"}) == "reference"
    with pytest.raises(ValueError, match=r"running\.md: kind: essay: must be one of tutorial"):
        kind_of("running.md", {"kind": "essay"})


def test_each_page_has_its_markdown_next_to_it(built: Built) -> None:
    for document in built.folder.rglob("*.html"):
        beside = document.with_suffix(".md")
        assert beside.exists() or document.with_suffix("").exists(), document


def test_links_in_the_markdown_of_a_page_lead_to_files(built: Built) -> None:
    for page in built.site.pages:
        text = re.sub(r"^( *`{3,}).*?^\1$", "", (built.folder / page.path).read_text(), flags=re.MULTILINE | re.DOTALL)
        for address in re.findall(r"\]\(([^)\s#]+)", text):
            target = (built.folder / page.path).parent / address
            assert "://" in address or target.is_file(), f"{page.path}: {address}"


def test_llms_txt_lists_each_page_with_its_markdown(built: Built) -> None:
    text = (built.folder / "llms.txt").read_text()
    listed = re.findall(r"^- \[.+?\]\((\S+\.md)\)", text, re.MULTILINE)
    assert sorted(listed) == sorted(page.path for page in built.site.pages)


def test_a_translated_page_and_its_source_link_to_each_other(built: Built) -> None:
    paths = {page.path for page in built.site.pages}
    translated = [page for page in built.site.pages if page.language == "zh-CN" and translation_of(page.path) in paths]
    assert translated
    for page in translated:
        source = translation_of(page.path)
        for one, other in ((page.path, source), (source, page.path)):
            document = (built.folder / one).with_suffix(".html")
            [href] = re.findall(r'<a class="language" href="([^"]+)"', document.read_text())
            assert (document.parent / href).resolve() == (built.folder / other).with_suffix(".html").resolve()


def test_the_first_use_of_a_glossary_word_is_a_link(built: Built) -> None:
    document = (built.folder / "etcd.html").read_text()
    [article] = re.findall(r"<article>(.*?)</article>", document, re.DOTALL)
    prose = re.sub(r"<pre>.*?</pre>|<code.*?</code>|<h\d.*?</h\d>|<th.*?</th>", "", article, flags=re.DOTALL)
    for word in ("lease", "compaction"):
        first = re.search(rf"(?<![\w/.-]){word}s?(?![\w/-])", prose, re.IGNORECASE)
        assert first is not None, word
        assert f'href="glossary.html#word-{word}"' in prose[: first.start()].rpartition("<a ")[2], word
        assert prose.count(f"#word-{word}") == 1


def test_commands_of_the_front_page_are_tested_commands_of_readme(built: Built) -> None:
    readme = (ROOT / "README.md").read_text()
    commands = [line[2:] for line in session().splitlines() if line.startswith("$ ")]
    assert len(commands) == 5
    shown = re.sub(r"<[^>]+>", "", (built.folder / "index.html").read_text())
    for command in commands:
        assert f"    {command}" in readme
        assert f"$ {command}\n" in shown


def test_the_front_page_has_figures_of_readme() -> None:
    assert set(facts()) == {"conformance", "start", "creates", "memory"}


def test_a_search_index_has_less_than_one_megabyte(built: Built) -> None:
    sizes = {file.name: file.stat().st_size for file in (built.folder / "assets").glob("search-*.js")}
    assert set(sizes) == {"search-en.js", "search-zh.js"}
    assert max(sizes.values()) < 1_000_000


def test_names_of_the_inventory_lead_to_anchors(built: Built) -> None:
    lines = zlib.decompress((built.folder / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    assert len(lines) > 300
    for name, _, _, address, _ in (line.split(" ", 4) for line in lines):
        path, _, anchor = address.replace("$", name).partition("#")
        assert f'id="{anchor}"' in document(built.folder / path) or not anchor, address


def test_edit_this_page_leads_to_the_file_only_if_an_address_is_set(built: Built) -> None:
    assert 'href="https://example.com/edit/main/docs/running.md"' in (built.folder / "running.html").read_text()


def test_no_page_loads_a_file_of_another_host(built: Built) -> None:
    loaded = re.compile(r"""(?:src=|url\(|@import|<link[^>]+href=)["']?(?:https?:)?//""")
    files = [*built.folder.rglob("*.html"), *(built.folder / "assets").iterdir()]
    assert [file.name for file in files if loaded.search(file.read_text())] == []


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("What a Pod's `spec` is", "what-a-pods-spec-is"), ("add_finalizer", "add_finalizer")],
)
def test_an_anchor_is_that_of_github(heading: str, anchor: str) -> None:
    assert slug(heading.replace("`", "")) == anchor


def test_a_link_to_nothing_is_refused() -> None:
    page = page_from("docs/running.md", "# Title\n\nSee [this](absent.md).\n")
    with pytest.raises(BrokenLink, match=r"docs/running\.md: absent\.md does not exist"):
        render(page, Links.among([page]), NO_GLOSSARY)


def test_a_heading_that_leaves_out_a_level_is_refused() -> None:
    page = page_from("docs/running.md", "# Title\n\n### Detail\n")
    with pytest.raises(BadHeading, match="heading 'Detail' of level 3 follows one of level 1"):
        render(page, Links.among([page]), NO_GLOSSARY)


def test_words_of_the_glossary_in_code_and_links_stay() -> None:
    page = page_from("docs/running.md", "# Lease\n\n`lease` [lease](running.md) lease, lease\n")
    done = render(page, Links.among([page]), NO_GLOSSARY).html
    assert done.count('class="term"') == 1
    assert '</a> <a href="glossary.html#word-lease" class="term"' in done


def test_front_matter_is_not_shown() -> None:
    page = page_from("docs/zh-CN/terms.md", "---\nsource: docs/glossary.md\nsource_sha256: 0\n---\n# Terms\n")
    assert (page.title, page.front_matter["source"]) == ("Terms", "docs/glossary.md")
    assert "source" not in page.text


def test_dead_anchors_double_ids_and_pictures_without_text_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"></p><p id="x"></p><a href="#y"></a><img src="https://h/b.png">')
    assert faults_of(tmp_path) == [
        "a.html: two elements have the id x",
        "a.html: picture https://h/b.png has no text (alt)",
        "a.html: https://h/b.png is a file of another host",
        "a.html: #y has no such anchor",
    ]
