"""`write_wheels`: wheels of this checkout and of what a project needs, for a machine without internet.

Wheels of dependencies are packed again from what is installed here. So no package index is needed, and the versions are
those that all other tests use.
"""

import base64
import hashlib
import platform
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts.install.projects import OPERATOR, SERVER

_NEEDED: Final = ("sampan[build,cri]", "pytest")
_OF_INSTALLATION: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})


def write_wheels(folder: Path) -> None:
    """Write the wheels. Raises `CalledProcessError`."""
    folder.mkdir()
    for source in (SERVER, OPERATOR):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    for each in _installed(_NEEDED):
        if canonicalize_name(each.name) != "sampan":
            _pack(each, folder)


def _installed(requirements: Iterable[str]) -> list[Distribution]:
    """Return the installed distributions that requirements lead to."""
    found, queue = dict[str, Distribution](), [Requirement(each) for each in requirements]
    visited = set[str]()
    while queue:
        requirement = queue.pop()
        if str(requirement) in visited:
            continue
        visited.add(str(requirement))
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            continue  # pip names it, if it is needed
        found[canonicalize_name(requirement.name)] = installed
        for text in installed.requires or []:
            inner = Requirement(text)
            if inner.marker is None or any(
                inner.marker.evaluate({"extra": each}) for each in ("", *requirement.extras)
            ):
                queue.append(inner)
    return list(found.values())


def _pack(installed: Distribution, folder: Path) -> None:
    wheel = installed.read_text("WHEEL") or ""
    tags = [line.partition(": ")[2] for line in wheel.splitlines() if line.startswith("Tag: ")]
    python, abi, _ = tags[0].split("-")
    # They run here, so they run in an image with this machine's Debian, whatever glibc the index's wheel was for.
    platforms = "any" if tags[0].endswith("-any") else f"manylinux_2_17_{platform.machine()}"
    pythons = ".".join(dict.fromkeys(each.split("-")[0] for each in tags)) if abi == "none" else python
    name = canonicalize_name(installed.name).replace("-", "_")
    records, target = list[str](), folder / f"{name}-{installed.version}-{pythons}-{abi}-{platforms}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        info = ""
        for path, content in _files(installed, f"{name}-{installed.version}.data/scripts/"):
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            records.append(f"{path},sha256={digest},{len(content)}\n")
            info = path.rpartition("/")[0] if path.endswith(".dist-info/METADATA") else info
        archive.writestr(f"{info}/RECORD", "".join([*records, f"{info}/RECORD,,\n"]))


def _files(installed: Distribution, scripts: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the wheel. Scripts of entry points are left out, as pip writes them."""
    entries = {each.name for each in installed.entry_points}
    for path in installed.files or []:
        text = str(path)
        if "__pycache__" in text or (".dist-info/" in text and path.name in _OF_INSTALLATION):
            continue
        if not text.startswith(".."):
            yield text, Path(str(installed.locate_file(path))).read_bytes()
        elif path.parent.name == "bin" and path.name not in entries:
            yield scripts + path.name, Path(sysconfig.get_path("scripts"), path.name).read_bytes()
