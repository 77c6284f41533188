"""Progress of a test run: done tests, remaining time, and the files that run. It replaces pytest's dots.

    12 % of 18,800 tests, 3 min 10 s left: server/test_watch.py, storage/sqlite/test_killed.py

A terminal has one line that changes; otherwise, for example in CI, there is a line every half minute. Failures are
printed as they happen. The remaining time comes from the durations of the last run on this machine; without one, from
the tests that are done.

Concurrency: pytest calls the hooks in one thread. With pytest-xdist, only the main process has the plug-in.
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TextIO

import pytest

LINE_INTERVAL_S: Final = 30.0
TERMINAL_INTERVAL_S: Final = 0.2
SHOWN_FILES_MAX: Final = 3
CACHE: Final = "sampan/file-seconds"


class Estimate:
    """Remaining time of a run, from the seconds that each file took before.

    `known` maps a file to its seconds in an earlier run. Seconds are the sum over all processes.
    """

    def __init__(self, tests: Iterable[str], known: Mapping[str, float]) -> None:
        self._left = Counter(file_of(test) for test in tests)
        self._total = dict(self._left)
        self._known = {file: seconds for file, seconds in known.items() if file in self._total}
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @property
    def tests(self) -> int:
        """Number of tests of the run."""
        return sum(self._total.values())

    @property
    def done(self) -> int:
        """Number of tests that have ended."""
        return self.tests - self._left.total()

    def report(self, test: str, seconds: float, *, ended: bool) -> None:
        """Record the duration of a phase of a test, and its end."""
        file = file_of(test)
        self.seconds[file] += seconds
        if ended:
            self._left[file] -= 1

    def whole_files(self) -> dict[str, float]:
        """Return the seconds of the files whose tests have all ended."""
        return {file: round(self.seconds[file], 2) for file in self._total if not self._left[file]}

    def left_s(self, passed_s: float) -> float | None:
        """Return the remaining seconds after `passed_s` seconds of wall-clock time; None if nothing is known yet."""
        spent = sum(self.seconds.values())
        if not self.done or not spent or passed_s <= 0:
            return None
        new = [file for file in self._total if file not in self._known]
        new_done = sum(self._total[file] - self._left[file] for file in new)
        each_new_s = sum(self.seconds[file] for file in new) / new_done if new_done else spent / max(1, self.done)
        left = sum(self._left[file] * self._mean_s(file, each_new_s) for file in self._total)
        return left * passed_s / spent

    def _mean_s(self, file: str, unknown_s: float) -> float:
        return self._known[file] / self._total[file] if file in self._known else unknown_s


def file_of(test: str) -> str:
    """Return the file of a test's id, below `tests/`."""
    return test.partition("::")[0].removeprefix("tests/")


def minutes(seconds: float) -> str:
    """Return a time for people: `3 min 10 s`."""
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


class Progress:
    """The plug-in of one run."""

    def __init__(self, config: pytest.Config, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._config, self._out, self._clock = config, out, clock
        self._terminal = out.isatty()
        self._estimate: Estimate | None = None
        self._running: dict[str, None] = {}
        self._began = self._shown = clock()

    def start(self, tests: Iterable[str]) -> None:
        """Take the tests of the run. Only the first call counts: each process collects the same ones."""
        if self._estimate is None:
            self._estimate = Estimate(tests, self._cached())
            self._began = self._clock()

    def text(self) -> str:
        """Return the present line."""
        assert self._estimate is not None, "no test has started"
        done, tests = self._estimate.done, self._estimate.tests
        left_s = self._estimate.left_s(self._clock() - self._began)
        left = f", {minutes(left_s)} left" if left_s is not None else ""
        files = list(dict.fromkeys(file_of(test) for test in self._running))[:SHOWN_FILES_MAX]
        return f"{100 * done // max(1, tests)} % of {tests:,} tests{left}: {', '.join(files)}"

    def show(self) -> None:
        """Print the line, unless the last one is recent."""
        interval_s = TERMINAL_INTERVAL_S if self._terminal else LINE_INTERVAL_S
        if self._estimate is None or self._clock() - self._shown < interval_s:
            return
        self._shown = self._clock()
        self._out.write(f"\r\x1b[K{self.text()}" if self._terminal else f"{self.text()}\n")
        self._out.flush()

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._terminal:
            self._out.write("\r\x1b[K")

    def _cached(self) -> dict[str, float]:
        cache = getattr(self._config, "cache", None)  # absent without the plug-in cacheprovider
        return dict(cache.get(CACHE, {})) if cache is not None else {}

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start, without pytest-xdist."""
        if session.items:
            self.start(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Start, with pytest-xdist."""
        self.start(ids)

    @pytest.hookimpl
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Show the file."""
        self._running[nodeid] = None
        self.show()

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the test when its teardown ends, and print its name at once if it failed."""
        if report.failed:
            self.clear()
            self._out.write(f"FAILED {report.nodeid} ({report.when})\n")
        if self._estimate is not None:
            ended = report.when == "teardown"
            self._estimate.report(report.nodeid, report.duration, ended=ended)
            if ended:
                self._running.pop(report.nodeid, None)
        self.show()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no dot for a test that passed or was skipped."""
        if report.when == "call" and report.passed:
            return "passed", "", "PASSED"
        if report.skipped and not hasattr(report, "wasxfail"):
            return "skipped", "", "SKIPPED"
        return ("failed", "", "FAILED") if report.when == "call" and report.failed else None

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Keep the durations of whole files for the next run."""
        self.clear()
        cache = getattr(self._config, "cache", None)  # absent without the plug-in cacheprovider
        if self._estimate is not None and cache is not None and not hasattr(self._config, "workerinput"):
            cache.set(CACHE, {**self._cached(), **self._estimate.whole_files()})


def register(config: pytest.Config) -> None:
    """Add the plug-in, unless pytest shows each test by name or this process is one of pytest-xdist's workers."""
    if not hasattr(config, "workerinput") and config.get_verbosity() <= 0:
        config.pluginmanager.register(Progress(config, sys.stdout), "sampan-progress")
