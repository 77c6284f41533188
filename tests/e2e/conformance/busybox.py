"""busybox for a whole run, built from its source with its default configuration, as the published image is.

The one of Debian drops environment variables whose names are not names of a shell, such as `a-b`; tests read those.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.e2e.conformance import cache

_VERSION: Final = "1.37.0"
_SUITE: Final = "trixie"
"""Debian's release with the source of this version."""
_SETTINGS: Final = {"CONFIG_STATIC": "y", "CONFIG_TC": "n"}
"""Differences from the default. `tc` needs headers of an old kernel."""
PACKAGES: Final = {"gcc": "gcc", "make": "make", "/usr/include/stdio.h": "libc6-dev"}
"""Programs and files that building needs, and the Debian package of each."""


def key() -> str:
    """Return a hash of all that decides the program, except the C compiler."""
    return cache.key(Path(__file__).read_bytes())


def build(program: Path, report: Callable[[str], None]) -> None:
    """Write the program, unless it exists. Raises `UnavailableError`, `CalledProcessError`.

    Other runs never see a part of it.
    """
    if program.exists():
        return
    report(f"building busybox {_VERSION} (a minute)")
    with cache.unfinished(program.parent) as work:
        source = _source(work)
        _make(source, "defconfig")
        settings = source / ".config"
        lines = [line for line in settings.read_text().splitlines() if not any(name in line for name in _SETTINGS)]
        settings.write_text("\n".join([*lines, *(f"{name}={value}" for name, value in _SETTINGS.items())]) + "\n")
        _make(source, "oldconfig")
        _make(source, f"-j{os.cpu_count() or 1}", "busybox")
        (source / "busybox").rename(program)


def _make(source: Path, *words: str) -> None:
    """Run make. New questions of the configuration get their default."""
    subprocess.run(["make", *words], cwd=source, input="\n" * 1000, text=True, check=True, capture_output=True)


def _source(work: Path) -> Path:
    """Download Debian's copy of the source, without a change to this machine, and unpack it."""
    apt = work / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (apt / name).mkdir(parents=True)
    (apt / "sources.list").write_text(f"deb-src http://deb.debian.org/debian {_SUITE} main\n")
    (apt / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{apt}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
        f'Dir::State::lists "{apt}/lists";\nDir::Cache "{apt}/cache";\nAPT::Sandbox::User "root";\n'
    )
    for words in (["update"], ["source", "--download-only", f"busybox/{_SUITE}"]):
        environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf")}
        done = subprocess.run(
            ["apt-get", *words], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise cache.UnavailableError(f"the source of busybox cannot be downloaded: {done.stderr.strip()[-500:]}")
    shutil.unpack_archive(work / f"busybox_{_VERSION}.orig.tar.bz2", work)
    return work / f"busybox-{_VERSION}"
