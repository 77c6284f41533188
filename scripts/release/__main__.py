"""Makes the artefacts of a release in a directory.

    python -m scripts.release dist              # or: make release
    python -m scripts.release dist --no-image

| file | content |
|---|---|
| `sampan-VERSION-py3-none-any.whl`, `sampan-VERSION.tar.gz` | the distribution `sampan` |
| `sampan_operator-VERSION-py3-none-any.whl` | the distribution `sampan-operator` |
| `sampan_docs-VERSION-py3-none-any.whl` | the distribution `sampan-docs`: the documentation site |
| `*-musllinux_*.whl` | the first two for Linux with musl, without RE2 |
| `sampan-VERSION-ARCHITECTURE.oci.tar` | image of the server |
| `sampan.service`, `sampan-node.service` | systemd units of a server and of a node |
| `kubectl-sampan.zip` | archive for krew |
| `CHANGES.md` | section of the changelog |
| `SHA256SUMS` | checksums of all of them |
"""

import argparse
import datetime as dt
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.install.projects import DOCS, OPERATOR, ROOT, SERVER
from scripts.release.changes import section_of
from scripts.release.image import ImageError, architecture, build_image
from scripts.release.musl import musl_wheel
from scripts.site.build import build as build_site
from scripts.site.places import OUTPUT as SITE

from sampan import __version__
from sampan.core.clock import monotonic

SUMS = "SHA256SUMS"


def main(arguments: Sequence[str]) -> int:
    """Make the artefacts. Return the exit code."""
    parser = argparse.ArgumentParser(prog="make release", description="Make the artefacts of a release.")
    parser.add_argument("directory", type=Path, help="directory for them; old artefacts in it are removed")
    parser.add_argument("--no-image", action="store_true", help="make no image of the server")
    parser.add_argument("--base", type=Path, help="tar archive of the image's root file system, with Debian's Python")
    chosen = parser.parse_args(arguments)
    try:
        make(chosen.directory.absolute(), image=not chosen.no_image, base=chosen.base)
    except (ImageError, LookupError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1
    return 0


def make(directory: Path, *, image: bool = True, base: Path | None = None) -> None:
    """Make the artefacts. Raises `ImageError`, or `LookupError` if the changelog lacks the version."""
    began = monotonic()
    changes = section_of((ROOT / "CHANGELOG.md").read_text(), __version__)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "CHANGES.md").write_text(changes)
    for unit in ("sampan.service", "sampan-node.service"):
        shutil.copy(ROOT / "packaging" / "systemd" / unit, directory)
    print("building sampan and sampan-operator", flush=True)
    for project, kinds in ((SERVER, ("wheel", "sdist")), (OPERATOR, ("wheel",))):
        for kind in kinds:
            _run("-m", "hatchling", "build", "-t", kind, "-d", str(directory), cwd=project)
    for built in list(directory.glob("*-any.whl")):
        musl_wheel(built)
    print("building sampan-docs", flush=True)
    build_site(SITE)
    _run("-m", "hatchling", "build", "-t", "wheel", "-d", str(directory), cwd=DOCS)
    _run(str(ROOT / "packaging" / "krew" / "archive.py"), str(directory / "kubectl-sampan.zip"), cwd=ROOT)
    if image:
        print("building the image (about two minutes)", flush=True)
        [wheel] = directory.glob("sampan-[0-9]*-any.whl")
        target = directory / f"sampan-{__version__}-{architecture()}.oci.tar"
        build_image(wheel, target, name=f"sampan:{__version__}", created=_commit_time(), base=base)
    _write_sums(directory)
    for file in sorted(directory.iterdir()):
        print(f"{file.stat().st_size / 1e6:8.1f} MB  {file}")
    print(f"release {__version__} is complete after {monotonic() - began:.0f} s")


def _run(*arguments: str, cwd: Path) -> None:
    subprocess.run([sys.executable, *arguments], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def _commit_time() -> dt.datetime:
    """Return the time of the current commit, so that the same commit gives the same image."""
    done = subprocess.run(("git", "log", "-1", "--format=%ct"), cwd=ROOT, capture_output=True, text=True, check=True)
    return dt.datetime.fromtimestamp(int(done.stdout), dt.UTC)


def _write_sums(directory: Path) -> None:
    """Write the file that `sha256sum --check` reads."""
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(directory.iterdir())]
    (directory / SUMS).write_text("".join(sums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
