"""The image `registry.test/operators:1`: this computer's Python with Sampan of this checkout and kopf.

Python and the packages are those that run the tests, so nothing is downloaded. The operators' code is not in it: pages
mount it from ConfigMaps.
"""

import re
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from scripts.install.projects import OPERATOR, ROOT, requirements

from tests.e2e.cri import image
from tests.journeys.libraries import libraries
from tests.machines.oci import OciArchive

NAME: Final = "registry.test/operators:1"
_LEFT_OUT: Final = {"site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "__pycache__"}
_PACKAGES: Final = "opt/packages"


def build(archive: Path) -> None:
    """Write an OCI archive with the image."""
    busybox, python = archive.with_suffix(".busybox"), archive.with_suffix(".python")
    image.write_layer(busybox)
    with tarfile.open(python, "w") as tar:
        loaded = [*_add_python(tar), *_add_packages(tar)]
        for path in sorted({each for program in loaded for each in libraries(program)}, key=str):
            if not path.is_relative_to(sys.prefix):  # the packages bring these themselves
                tar.add(path.resolve(), str(path).lstrip("/"))
    programs = f"PATH={Path(sys.base_prefix) / 'bin'}:/bin"
    environment = [
        programs,
        f"PYTHONPATH=/{_PACKAGES}",
        "PYTHONUNBUFFERED=1",
        "PYTHONDONTWRITEBYTECODE=1",
        "HOME=/tmp",
        "USER=root",
    ]
    with OciArchive(archive) as images:
        images.image(NAME, [images.layer(busybox), images.layer(python)], {"Cmd": ["python3"], "Env": environment})
    busybox.unlink()
    python.unlink()


def _add_python(tar: tarfile.TarFile) -> list[Path]:
    """Add Python's program and its library. Return the files that load shared libraries."""
    program = Path(sys.base_prefix) / "bin" / "python3"
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    found = [each for each in sorted(library.rglob("*")) if each.is_file() and not _LEFT_OUT & set(each.parts)]
    for path in (program, *found):
        tar.add(path.resolve(), str(path).lstrip("/"))
    return [program, *(each for each in found if each.suffix == ".so")]


def _add_packages(tar: tarfile.TarFile) -> list[Path]:
    """Add Sampan, kopf, and what both need. Return the files that load shared libraries."""
    tar.add(ROOT / "src" / "sampan", f"{_PACKAGES}/sampan", filter=_without_caches)
    left = ["kopf", *(Requirement(each).name for each in requirements(OPERATOR))]
    names: set[str] = set()
    while left:
        name = left.pop()
        if name not in names:
            names.add(name)
            left += _required_by(name)
    loaded = []
    for name in sorted(names):
        for file in distribution(name).files or ():
            path = Path(str(file.locate()))
            if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
                tar.add(path, f"{_PACKAGES}/{file}")
                loaded += [path] if path.suffix == ".so" else []
    return loaded


def _required_by(name: str) -> Iterator[str]:
    """Yield the names of the installed packages that a package needs here."""
    for text in distribution(name).requires or ():
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            try:
                yield distribution(needed.name).metadata["Name"]
            except PackageNotFoundError:
                continue


def _without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if re.search(r"(^|/)__pycache__(/|$)", entry.name) else entry
