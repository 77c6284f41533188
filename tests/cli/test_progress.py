"""Progress bar on the terminal."""

import io
import sys

import pytest

from sampan.cli.progress import progress_bar, progress_line


class Terminal(io.StringIO):
    """Text that looks like a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_shows_the_amount_and_the_time_left() -> None:
    assert progress_line("copying", 100, 400, 20.0) == f"copying {'━' * 7}{' ' * 23} 100/400 0:01:00 left"


def test_a_finished_amount_has_no_time_left() -> None:
    assert progress_line("copying", 4, 4, 20.0) == f"copying {'━' * 30} 4/4"


def test_a_bar_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    times = iter([0.0, 0.01, 1.0])
    with progress_bar("saving", clock=lambda: next(times)) as advance:
        advance(1, 4)
        advance(2, 4)
    assert terminal.getvalue().count("saving") == 1
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_there_are_plain_lines_for_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    times = iter([0.0, 1.0, 2.0, 3.0, 12.0])
    with progress_bar("saving", clock=lambda: next(times)) as advance:
        for done in (100, 200, 300, 400):
            advance(done, 400)
    assert log.getvalue().splitlines() == ["saving: 200 of 400 (50 %), 0:00:02 left", "saving: 400 of 400 (100 %)"]


def test_each_step_has_its_title_and_its_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    times = iter([0.0, 0.0, 50.0, 60.0, 70.0, 80.0, 90.0])
    with progress_bar("reading", "verifying", "writing", clock=lambda: next(times)) as advance:
        for done, total in ((0, 4), (4, 4), (500, 999), (999, 999), (2, 4), (3, 4)):
            advance(done, total)
    assert log.getvalue().splitlines() == [
        "reading: 4 of 4 (100 %)",
        "verifying: 500 of 999 (50 %)",
        "verifying: 999 of 999 (100 %)",
        "writing: 2 of 4 (50 %)",
        "writing: 3 of 4 (75 %), 0:00:03 left",
    ]


def test_an_unknown_total_shows_the_amount() -> None:
    assert progress_line("checking", 3, 0, 20.0) == "checking 3"
