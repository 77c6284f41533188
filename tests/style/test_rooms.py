"""Folders are small enough to read their list of files: at most 20, except where all files are of one kind."""

from collections import Counter
from typing import Final

from tests.style.sources import ROOT, SOURCES

FILES_MAX: Final = 20
EXCEPTIONS_MAX: Final = 8

ONE_KIND: Final = {
    "kinds": "one file for each group and version, made by scripts/kinds",
    "registry/kinds/core": "one file for each kind of the core group",
    "scheduler/plugins": "one file for each plug-in of the scheduler",
    "server/admission/plugins": "one file for each admission plug-in",
}
"""Folders whose files are of one kind, with the kind. A reader looks for a file by its name, not by its noun."""

COUNTS: Final = Counter(str(path.parent.relative_to(ROOT / "src/sampan")) for path in SOURCES)


def test_each_folder_has_at_most_20_files() -> None:
    large = {folder: count for folder, count in COUNTS.items() if count > FILES_MAX}
    assert {folder: count for folder, count in large.items() if folder not in ONE_KIND} == {}


def test_each_exception_has_more_than_20_files() -> None:
    assert {folder for folder in ONE_KIND if COUNTS[folder] <= FILES_MAX} == set()


def test_at_most_eight_folders_are_exceptions() -> None:
    assert len(ONE_KIND) <= EXCEPTIONS_MAX
