"""Pictures of the site that the repository has: small, shown by README, and of the site of today."""

import re

import pytest
from scripts.site.places import ROOT

from tests.site.browser import Chromium
from tests.site.conftest import Built
from tests.site.screenshots import FOLDER, PICTURES, SIZE_MAX, take


def test_the_folder_has_all_pictures_and_no_other_one() -> None:
    assert {file.name for file in FOLDER.iterdir() if file.is_file()} == {f"{name}.webp" for name in PICTURES}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_repository_is_small(name: str) -> None:
    data = (FOLDER / f"{name}.webp").read_bytes()
    assert data[:4] + data[8:12] == b"RIFFWEBP"
    assert len(data) < SIZE_MAX


@pytest.mark.parametrize("name", PICTURES)
def test_a_new_picture_is_small(browser: Chromium, name: str) -> None:
    assert 10_000 < len(take(browser, name)) < SIZE_MAX


def test_readme_shows_the_front_page_in_the_theme_of_the_reader() -> None:
    pictures = re.findall(r"<picture>.*?</picture>", (ROOT / "README.md").read_text(), re.DOTALL)
    [picture] = [each for each in pictures if "site-front" in each]
    assert 'media="(prefers-color-scheme: dark)" srcset="docs/pictures/site-front-dark.webp"' in picture
    assert 'src="docs/pictures/site-front-light.webp"' in picture


def test_the_picture_of_readme_is_on_its_page_of_the_site(built: Built) -> None:
    for page in ("readme.html", "readme.md"):
        text = (built.folder / page).read_text()
        for address in re.findall(r"""<(?:img|source) [^>]*\b(?:src|srcset)="([^"]+)""", text):
            assert (built.folder / address).is_file(), (page, address)
        assert 'srcset="pictures/site-front-dark.webp"' in text
