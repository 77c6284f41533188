"""Pictures of the dashboard that the repository has: small, complete, and shown by documents."""

import pytest
from scripts.web.places import ROOT

from tests.dashboard.screenshots import FOLDER, PICTURES, SIZE_MAX


def test_the_folder_has_all_pictures_and_no_other_one() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.webp" for name in PICTURES}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_and_shown(name: str) -> None:
    data = (FOLDER / f"{name}.webp").read_bytes()
    assert data[:4] + data[8:12] == b"RIFFWEBP"
    assert len(data) < SIZE_MAX
    assert f"pictures/dashboard/{name}.webp" in (ROOT / "docs" / "dashboard.md").read_text()
