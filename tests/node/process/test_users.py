"""Users of images are looked up in the image only."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sampan.node.process.launch import LaunchError
from sampan.node.process.users import home_of, ids_of


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image directory next to a file of users that is not part of it."""
    (tmp_path / "passwd").write_text("app:x:0:0::/root:/bin/sh\n")
    found = tmp_path / "image"
    (found / "etc").mkdir(parents=True)
    return found


def test_user_of_the_image_is_found(image: Path) -> None:
    (image / "etc" / "passwd").write_text("app:x:1000:1001::/home/app:/bin/sh\n")
    (image / "etc" / "group").write_text("staff:x:50:\n")
    assert ids_of("app", str(image)) == (1000, 1001)
    assert ids_of("app:staff", str(image)) == (1000, 50)
    assert home_of(1000, str(image)) == "/home/app"


def test_link_inside_of_the_image_is_followed(image: Path) -> None:
    (image / "users").write_text("app:x:1000:1001::/home/app:/bin/sh\n")
    (image / "etc" / "passwd").symlink_to("../users")
    assert ids_of("app", str(image)) == (1000, 1001)


def out(file: Path) -> None:
    file.symlink_to("../../passwd")


def absolute(file: Path) -> None:
    file.symlink_to(file.parents[2] / "passwd")


def pipe(file: Path) -> None:
    os.mkfifo(file)


@pytest.mark.parametrize("make", [out, absolute, pipe])
def test_file_that_is_not_of_the_image_is_not_read(image: Path, make: Callable[[Path], None]) -> None:
    make(image / "etc" / "passwd")
    with pytest.raises(LaunchError, match="no matching entries"):
        ids_of("app", str(image))
    assert home_of(0, str(image)) == "/"


def test_large_file_is_read_in_part(image: Path) -> None:
    (image / "etc" / "passwd").write_text("a:x:1:1::/:\n" * 200_000 + "app:x:0:0::/:\n")
    with pytest.raises(LaunchError, match="no matching entries"):
        ids_of("app", str(image))
