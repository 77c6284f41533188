"""`build`: programs and images of a run, built unless the directory of programs and images has them."""

import argparse
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.conformance import binaries, busybox, cache, images, runtimes
from tests.machines import missing

NEWEST: Final = "newest"
_GO_MIN: Final = (1, 21)
"""Oldest Go that downloads the version which Kubernetes needs."""


@dataclass(frozen=True)
class Built:
    """Programs and images."""

    suite: Path
    kubectl: Path
    archive: Path
    runtimes: Path | None = None
    """Directory of containerd and runc; by default those on PATH."""
    version: str = binaries.VERSION
    """Version of the suite and of the programs in images."""


@dataclass(frozen=True)
class _Places:
    """Paths of programs and images, by the hashes of their sources."""

    programs: Path
    archive: Path
    busybox: Path
    runtimes: Path


def version(suite: str) -> str:
    """Return the version to build: `newest`, a patch of the version that Sampan serves, or, for a path, that version.

    Raises `UnavailableError`.
    """
    if suite == NEWEST:
        lacking = missing_go()
        if lacking:
            raise cache.UnavailableError(lacking)
        return binaries.newest()
    return suite if re.fullmatch(r"[\d.]+", suite) else binaries.VERSION


def checked_suite(text: str) -> str:
    """Return the value of `--suite`. Raises `ArgumentTypeError` for another minor version, or a missing file."""
    minor = binaries.VERSION.rpartition(".")[0]
    if text == NEWEST or re.fullmatch(rf"{re.escape(minor)}\.\d+", text) or Path(text).is_file():
        return text
    raise argparse.ArgumentTypeError(f"{text} is no file, no patch of {minor}, and not '{NEWEST}'")


def build(suite: str, work: Path | None, report: Callable[[str], None], *, is_sample: bool) -> Built:
    """Build what has not been built yet. Raises `UnavailableError` if this machine lacks something.

    `suite`: see `version`. A sample runs on installed runtimes.
    """
    _require({})
    chosen = version(suite)
    places = _places((work or cache.default(chosen)).resolve(), chosen, is_sample=is_sample)
    given = Path(suite) if suite not in (NEWEST, chosen) else None
    needed = [name for name in binaries.PROGRAMS if given is None or name != binaries.SUITE]
    files = [places.archive, *(places.programs / name for name in needed)]
    if not is_sample:
        files += [places.busybox, *(places.runtimes / name for name in runtimes.PROGRAMS)]
    if not all(file.exists() for file in files):
        _require({"mmdebstrap": "mmdebstrap", **({} if is_sample else {**busybox.PACKAGES, **runtimes.PACKAGES})})
        with cache.locked(places.archive.parent, report):
            _build(places, needed, chosen, report, is_sample=is_sample)
    built = (given or places.programs / binaries.SUITE).resolve()
    used = None if is_sample else places.runtimes
    return Built(built, places.programs / "kubectl", places.archive, used, chosen)


def _places(work: Path, chosen: str, *, is_sample: bool) -> _Places:
    programs = binaries.key(chosen)
    image = images.key(programs) if is_sample else images.key(programs, busybox.key())
    return _Places(
        work / f"programs-{programs}",
        work / f"images-{image}.tar",
        work / f"busybox-{busybox.key()}",
        work / f"runtimes-{runtimes.key()}",
    )


def _build(
    places: _Places, names: Iterable[str], chosen: str, report: Callable[[str], None], *, is_sample: bool
) -> None:
    if not is_sample:
        busybox.build(places.busybox, report)
        runtimes.build(places.runtimes, report)
    binaries.build(places.programs, report, list(names), chosen)
    real = None if is_sample else places.busybox
    images.build(places.archive, places.programs, binaries.sources(chosen), report, real)


def _require(packages: Mapping[str, str]) -> None:
    """Raise `UnavailableError` unless this machine has root, space, packages and, to build, Go."""
    lacking = missing(packages) or (missing_go() if packages else "")
    if lacking:
        raise cache.UnavailableError(lacking)


def missing_go() -> str:
    """Return why Go cannot build the programs; empty if it can."""
    if shutil.which("go") is None:
        return "go is not on PATH (https://go.dev/doc/install)"
    found = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout.strip()
    numbers = re.match(r"go(\d+)\.(\d+)", found)
    is_new = numbers is None or (int(numbers[1]), int(numbers[2])) >= _GO_MIN
    return "" if is_new else f"{found} is too old: needs go{_GO_MIN[0]}.{_GO_MIN[1]}"
