"""Progress of the set-up."""

from scripts.install.pip_progress import Progress


def test_the_set_up_shows_how_many_packages_are_left_and_how_long() -> None:
    installed, times = [5], iter([0.0, 10.0, 14.0])
    progress = Progress(lambda: installed[-1], lambda: next(times))
    progress.read(["Collecting click>=8.1\n", "  Downloading click-8.2-py3.whl (100 kB)\n"])
    assert progress.text() == "found 1 packages, downloading click"
    progress.read(["Installing collected packages: a, b, c, d, e, f\n"])
    installed.append(7)
    assert progress.text() == "installing 2 of 6 packages, 8 s left"
