"""The site, built once for a process of tests."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripts.site.build import Site, build
from scripts.site.cache import Cache

from tests.site.browser import Chromium, chromium

EDIT_ADDRESS = "https://example.com/edit/main"


@dataclass(frozen=True)
class Built:
    """A site in a folder."""

    site: Site
    folder: Path
    seconds: float
    """Processor time of the build."""
    cache: Path
    """Results of the build, for the next one."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return the site of this repository. A fault of the site, such as a dead link, fails every test."""
    folder = tmp_path_factory.mktemp("site") / "site"
    began = time.process_time()
    file = folder.parent / "cache"
    site = build(folder, edit_address=EDIT_ADDRESS, cache=Cache.load(file))
    return Built(site, folder, time.process_time() - began, file)


@pytest.fixture(scope="module")
def browser(built: Built) -> Iterator[Chromium]:
    """Return a browser for the tests of one file."""
    with chromium(built.folder) as started:
        yield started


@pytest.fixture
def built_file(built: Built) -> str:
    """Return the address of a page as a file."""
    return (built.folder / "installing.html").as_uri()
