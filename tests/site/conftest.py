"""The site, built once for a process of tests."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripts.site.build import Site, build

from tests.site.browser import Chromium, chromium


@dataclass(frozen=True)
class Built:
    """A site in a folder."""

    site: Site
    folder: Path
    seconds: float
    """Processor time of the build."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return the site of this repository. A fault of the site, such as a dead link, fails every test."""
    folder = tmp_path_factory.mktemp("site") / "site"
    began = time.process_time()
    site = build(folder, edit_address="https://example.com/edit/main")
    return Built(site, folder, time.process_time() - began)


@pytest.fixture(scope="module")
def browser(built: Built) -> Iterator[Chromium]:
    """Return a browser for the tests of one file."""
    with chromium(built.folder) as started:
        yield started


@pytest.fixture
def built_file(built: Built) -> str:
    """Return the address of a page as a file."""
    return (built.folder / "installing.html").as_uri()
