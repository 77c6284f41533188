"""Directory of programs and images, shared by all clones of a user.

    ~/.cache/sampan-conformance/1.36.0/programs-6f0c5b1e2d3a/   e2e.test, agnhost, …
                                       images-a91b3c4d5e6f.tar

The names have a hash of the sources, so that a clone finds only what it would build itself. Files are built in a
directory for unfinished ones and then renamed. A lock lets one run build at a time.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_UNFINISHED: Final = ".unfinished-"


class UnavailableError(Exception):
    """A registry or mirror does not provide what is built from."""


def default(version: str) -> Path:
    """Return the directory for a version of Kubernetes: in `XDG_CACHE_HOME`, or in `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "sampan-conformance" / version


def key(*sources: str | bytes) -> str:
    """Return a hash of texts and files' contents, in this order."""
    digest = hashlib.sha256()
    for source in sources:
        content = source.encode() if isinstance(source, str) else source
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()[:12]


@contextmanager
def locked(directory: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other run builds in a directory, and remove what killed ones have left."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another run that builds in {directory}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in directory.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        yield


@contextmanager
def unfinished(directory: Path) -> Iterator[Path]:
    """Make a directory for files that are renamed when they are complete. Its rest is removed at the end."""
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=directory) as found:
        yield Path(found)
