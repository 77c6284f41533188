"""Progress of the set-up."""

from pathlib import Path

import pytest
from scripts.install.pip_progress import Progress, bar_of


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_set_up_shows_how_many_packages_are_left_and_how_long() -> None:
    installed, clock = [5], Clock()
    progress = Progress(lambda: installed[-1], clock)
    progress.read(["Collecting click>=8.1\n", "  Downloading click-8.2-py3.whl (100 kB)\n"])
    assert progress.text() == "found 1 packages, downloading click"
    progress.read(["Installing collected packages: a, b, c, d, e, f\n"])
    installed.append(7)
    clock.now = 4.0
    assert progress.text() == "installing 2 of 6 packages, 8 s left"


def test_the_time_of_a_download_comes_from_the_bytes_that_arrived() -> None:
    clock = Clock()
    progress = Progress(lambda: 0, clock)
    progress.read(
        ["Collecting numpy\n", "  Downloading numpy-2.3-cp311.whl (20.0 MB)\n", "Progress 2000000 of 20000000\n"]
    )
    clock.now = 10.0
    assert progress.text() == "found 1 packages, downloaded 2 MB, numpy: 2 of 20 MB, 90 s left"


def test_the_remaining_time_disappears_while_one_package_takes_long() -> None:
    installed, clock = [0], Clock()
    progress = Progress(lambda: installed[-1], clock)
    progress.read(["Installing collected packages: a, b, c\n"])
    installed.append(2)
    clock.now = 2.0
    assert progress.text() == "installing 2 of 3 packages, 1 s left"
    clock.now = 602.0
    assert progress.text() == "installing 2 of 3 packages, the present one for 600 s"


@pytest.mark.parametrize(("pip", "bar"), [("23.2.1", "off"), ("24.0", "off"), ("24.1", "raw"), ("26.0.1", "raw")])
def test_an_old_pip_is_not_given_an_option_that_it_refuses(tmp_path: Path, pip: str, bar: str) -> None:
    (tmp_path / f"lib/python3.11/site-packages/pip-{pip}.dist-info").mkdir(parents=True)
    assert bar_of(tmp_path) == bar
