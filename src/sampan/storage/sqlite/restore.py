"""`restore`: a data directory from a snapshot. All is made in `UNFINISHED` within it and then moved; the database comes
last, so what a killed restore left is no store, and the next restore begins anew.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from sampan.storage.snapshot.draft import sync_directory
from sampan.storage.snapshot.format import Row, SnapshotError, Summary
from sampan.storage.snapshot.reader import read_file
from sampan.storage.sqlite.load import Loader

UNFINISHED = ".restoring"
COPYING = ".copying"
"""What a copy keeps in the directory until the store is there and was compared."""
DATABASE = "state.db"
LOCK_FILE = "lock"
BUMP_REVISION = 1_000_000_000
"""How much the revision goes forward: beyond whatever was written after the snapshot was made."""
CREDENTIALS = ("admin.token", "pki")
"""What of a data directory says who the server is: a file, and a directory of files."""
_OF_NOBODY = {LOCK_FILE, "lost+found"}
_OF_A_RESTORE = {*_OF_NOBODY, *CREDENTIALS, UNFINISHED}
_OF_A_COPY = {*_OF_A_RESTORE, COPYING, DATABASE}
_REVISION_MAX = 1 << 62
_LOAD = 500

Progress = Callable[[int, int], None]


def check_empty(directory: Path) -> None:
    """Raises `SnapshotError` when there is something in the directory that a restore would be mixed with."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise SnapshotError(f"{directory} is not a directory")
    names = {path.name for path in directory.iterdir()}
    left = _OF_A_COPY if COPYING in names else _OF_A_RESTORE if UNFINISHED in names else _OF_NOBODY
    found = sorted(names - left)
    if found:
        raise SnapshotError(f"the data directory {directory} is not empty: it holds {', '.join(found[:3])}")


def is_unfinished(directory: Path) -> bool:
    """Whether a restore or a copy was killed in this directory before there was a store, and a copy before it was found
    to be what was copied.
    """
    return (directory / COPYING).exists() or ((directory / UNFINISHED).exists() and not (directory / DATABASE).exists())


def credentials(directory: Path) -> dict[str, bytes]:
    """The files of a data directory that say who the server is, by their names in it."""
    token, pki = CREDENTIALS
    paths = [directory / token, *sorted((directory / pki).rglob("*"))]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def restore(
    path: Path, summary: Summary, directory: Path, *, bump_revision: int = BUMP_REVISION, progress: Progress
) -> int:
    """Make a store in `directory` from a snapshot that `verify` found good; gives the store's revision.

    The caller holds the directory, and has had it checked by `check_empty`. Objects keep their revisions; the store's
    goes forward by `bump_revision`, and history up to there is forgotten, so whoever watched is told to list anew.
    Raises `SnapshotError`, `OSError`, `sqlite3.Error`; then there is no store.
    """
    draft = directory / UNFINISHED
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    try:
        revision = summary.header.revision + bump_revision
        if not 0 < revision < _REVISION_MAX:
            raise SnapshotError(f"the store would be at revision {revision}, which cannot be")
        try:
            with Loader(draft / DATABASE) as loader:
                _load(path, summary, loader, draft, progress)
                loader.finish(revision)
        except (OverflowError, ValueError) as error:
            raise SnapshotError(f"{path}: {error}") from error
        _move(draft, directory)
    except BaseException:
        if not (directory / DATABASE).exists():
            shutil.rmtree(draft, ignore_errors=True)
        raise
    return revision


def _load(path: Path, summary: Summary, loader: Loader, draft: Path, progress: Progress) -> None:
    rows: list[Row] = []
    done, total = 0, summary.totals.keys
    for found in read_file(path):
        if isinstance(found, Row):
            rows.append(found)
            if len(rows) == _LOAD:
                loader.add(rows)
                done += len(rows)
                progress(done, total)
                rows.clear()
        else:
            _write_private(draft, *found)
    loader.add(rows)
    done += len(rows)
    progress(done, total)
    if done != total:
        raise SnapshotError(f"{path} has {done} keys; its totals say {total}")


def _write_private(draft: Path, name: str, content: bytes) -> None:
    parts = Path(name).parts
    if not parts or ".." in parts or parts[0] not in CREDENTIALS:
        raise SnapshotError(f"a file of the snapshot has the name {name!r}")
    target = draft.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _move(draft: Path, directory: Path) -> None:
    """Everything to its place, the database last. What an earlier restore moved before it was killed is replaced."""
    for path in _files_first(draft):
        target = directory / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.replace(target)
        sync_directory(directory)
    draft.rmdir()
    sync_directory(directory)


def _files_first(draft: Path) -> Iterator[Path]:
    paths = sorted(draft.iterdir())
    yield from (path for path in paths if path.name != DATABASE)
    yield from (path for path in paths if path.name == DATABASE)
