"""Builds after the first one: only pages with changed sources are rendered, and the result is that of a full build."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from scripts.site.build import build
from scripts.site.cache import Cache
from scripts.site.glossary import Glossary
from scripts.site.links import BrokenLink, Links
from scripts.site.made import Made, made
from scripts.site.page import Page

from tests.site.conftest import EDIT_ADDRESS, Built

PAGE = Page("a.md", "docs/a.md", "# A\n\nSee [B](b.md) and [code](../src/sampan/core/clock.py).\n")
TARGET = Page("b.md", "docs/b.md", "# B\n")
GLOSSARY = Glossary({"lease": "An object that one process renews."})


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_a_build_without_a_change_renders_nothing_and_writes_the_same_files(built: Built, tmp_path: Path) -> None:
    cache = Cache.load(built.cache)
    began = time.process_time()
    build(tmp_path / "site", edit_address=EDIT_ADDRESS, cache=cache)
    assert time.process_time() - began < 2
    assert cache.made == 0
    assert contents(tmp_path / "site") == contents(built.folder)


def after(cache: Cache, tmp_path: Path) -> Cache:
    """Return the cache of the next build."""
    cache.file, cache.generator = tmp_path / "cache", Cache.load(tmp_path / "none").generator
    cache.save()
    return Cache.load(tmp_path / "cache")


def test_only_a_changed_page_is_rendered_again(tmp_path: Path) -> None:
    def pages(cache: Cache, *chosen: Page) -> list[Made]:
        return [made(page, Links.among(chosen), GLOSSARY, cache, "") for page in chosen]

    first = Cache()
    pages(first, PAGE, TARGET)
    second = after(first, tmp_path)
    pages(second, PAGE, replace(TARGET, text="# B\n\nA lease.\n"))
    assert (first.made, second.made) == (2, 1)


def test_an_unchanged_page_adds_the_files_that_its_links_need(tmp_path: Path) -> None:
    cache = Cache()
    made(PAGE, Links.among([PAGE, TARGET]), GLOSSARY, cache, "")
    links = Links.among([PAGE, TARGET])
    made(PAGE, links, GLOSSARY, after(cache, tmp_path), "")
    assert links.views == {"src/sampan/core/clock.py"}


def test_a_link_of_an_unchanged_page_is_found_broken(tmp_path: Path) -> None:
    cache = Cache()
    made(PAGE, Links.among([PAGE, TARGET]), GLOSSARY, cache, "")
    with pytest.raises(BrokenLink, match=r"docs/a\.md: b\.md does not exist"):
        made(PAGE, Links.among([PAGE]), GLOSSARY, after(cache, tmp_path), "")


def test_a_link_of_an_unchanged_page_follows_its_target(tmp_path: Path) -> None:
    cache = Cache()
    made(PAGE, Links.among([PAGE, TARGET]), GLOSSARY, cache, "")
    moved = Links.among([PAGE, replace(TARGET, path="c.md")])
    assert 'href="c.html"' in made(PAGE, moved, GLOSSARY, after(cache, tmp_path), "").rendered.html


def test_a_changed_program_of_the_build_starts_without_results(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", generator="another")
    cache.get(lambda: 1, "one")
    cache.save()
    assert Cache.load(tmp_path / "cache").get(lambda: 2, "one") == 2


def test_a_broken_file_of_results_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"broken")
    assert Cache.load(tmp_path / "cache").get(lambda: 2, "one") == 2
