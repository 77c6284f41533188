"""Each page is a test: pytest follows `NN-name.md`."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.page import read
from tests.journeys.walk import JourneyError, walk
from tests.machines import missing

TIMEOUT_S = 1800


class PageFile(pytest.File):
    """A page."""

    def collect(self) -> "Iterator[PageItem]":
        """Yield its only test."""
        yield PageItem.from_parent(self, name="page")


class PageItem(pytest.Item):
    """The test that follows a page."""

    def __init__(self, **options: Any) -> None:
        """Set the time limit, which is longer than that of other tests."""
        super().__init__(**options)
        self.add_marker(pytest.mark.timeout(TIMEOUT_S))

    def runtest(self) -> None:
        """Follow the page on new machines."""
        lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
        if lacking:
            pytest.skip(f"containerd: {lacking}")
        with tempfile.TemporaryDirectory(prefix="journey-", ignore_cleanup_errors=True) as root:
            walk(read(self.path), Path(root))

    def repr_failure(self, excinfo: "pytest.ExceptionInfo[BaseException]", style: Any = None) -> Any:
        """Return the text of a failure."""
        if isinstance(excinfo.value, JourneyError):
            return f"{self.path.name}, {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the test."""
        return self.path, 0, self.path.name


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PageFile | None:
    """Collect a page."""
    if file_path.suffix == ".md" and file_path.name[:2].isdecimal():
        return PageFile.from_parent(parent, path=file_path)
    return None
