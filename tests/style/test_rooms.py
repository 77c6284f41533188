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

TOO_LARGE: Final = {
    "controllers": 38,
    "csi/sidecar": 26,
    "operator": 30,
    "patch": 26,
    "registry/crd": 23,
    "schema": 27,
    "schema/cel": 33,
    "service_proxy": 21,
    "storage/etcd": 25,
    "testing": 40,
    "testing/explore": 22,
    "testing/generated": 22,
}
"""Folders that are still too large, with their number of files. It may only fall; a folder leaves the list at 20."""

COUNTS: Final = Counter(str(path.parent.relative_to(ROOT / "src/sampan")) for path in SOURCES)


def test_each_folder_has_at_most_20_files() -> None:
    limits = {folder: TOO_LARGE.get(folder, FILES_MAX) for folder in COUNTS.keys() - ONE_KIND.keys()}
    assert {folder: COUNTS[folder] for folder, limit in limits.items() if COUNTS[folder] > limit} == {}


def test_each_listed_folder_has_more_than_20_files() -> None:
    listed = ONE_KIND.keys() | TOO_LARGE.keys()
    assert {folder for folder in listed if COUNTS[folder] <= FILES_MAX} == set()


def test_at_most_eight_folders_are_exceptions() -> None:
    assert len(ONE_KIND) <= EXCEPTIONS_MAX
