"""`basis`: all that a result depends on. A resumed run continues only on the same one.

A test that passed on other images or another commit proves nothing about these.
"""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[3]
_RUNTIMES: Final = ("containerd", "runc")


def basis(suite: Path, archive: Path, nodes: int, runtimes: Path | None = None) -> dict[str, str]:
    """Return the commit, the digests of suite and images, the versions of the runtimes, and the number of nodes.

    `runtimes`: directory of containerd and runc; by default those on PATH.
    """
    changed = _output("git", "status", "--porcelain", "--untracked-files=no")
    programs = {name: str(runtimes / name) if runtimes else name for name in _RUNTIMES}
    versions = {name: (_output(path, "--version").splitlines() or ["absent"])[0] for name, path in programs.items()}
    return {
        "commit": (_output("git", "rev-parse", "HEAD") or "unknown") + (" with changes" if changed else ""),
        "suite": _digest(suite),
        "images": _digest(archive),
        **versions,
        "store": "sqlite",
        "nodes": str(nodes),
    }


def difference(found: Mapping[str, str], stored: Mapping[str, str]) -> str:
    """Return which parts of a basis differ from those of the stored results; empty if none does."""
    names = sorted({*found, *stored})
    return "; ".join(
        f"{name}: {stored.get(name, 'unknown')}, now {found.get(name, 'unknown')}"
        for name in names
        if found.get(name) != stored.get(name)
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
