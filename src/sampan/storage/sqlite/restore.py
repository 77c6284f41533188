"""`restore`: creates a data directory from a snapshot.

All files are written to `UNFINISHED` inside the directory and then moved, the database last. So a killed restore leaves
no store, and the next restore starts again.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from sampan.core.numbers.counts import counted
from sampan.storage.snapshot.draft import sync_directory
from sampan.storage.snapshot.format import Row, SnapshotError, Summary
from sampan.storage.snapshot.reader import read_file
from sampan.storage.sqlite.load import Loader

UNFINISHED = ".restoring"
COPYING = ".copying"
"""Subdirectory that a copy keeps until the store is in place and verified."""
DATABASE = "state.db"
LOCK_FILE = "lock"
BUMP_REVISION = 1_000_000_000
"""Number that is added to the revision, so that it exceeds all revisions written after the snapshot."""
CREDENTIALS = ("admin.token", "pki")
"""Identity of the server in a data directory: a file, and a directory of files."""
_OF_NOBODY = {LOCK_FILE, "lost+found"}
_OF_A_RESTORE = {*_OF_NOBODY, *CREDENTIALS, UNFINISHED}
_OF_A_COPY = {*_OF_A_RESTORE, COPYING, DATABASE}
_REVISION_MAX = 1 << 62
_LOAD = 500

Progress = Callable[[int, int], None]


def check_empty(directory: Path) -> None:
    """Raise `SnapshotError` if the directory has content that would mix with a restore."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise SnapshotError(f"{directory} is not a directory")
    names = {path.name for path in directory.iterdir()}
    left = _OF_A_COPY if COPYING in names else _OF_A_RESTORE if UNFINISHED in names else _OF_NOBODY
    found = sorted(names - left)
    if found:
        contents = ", ".join(found[:3])
        raise SnapshotError(
            f"the data directory {directory} is not empty: it contains {contents}; choose a new one, or move it away"
        )


def is_unfinished(directory: Path) -> bool:
    """Return True if a restore or copy was killed in this directory before its store was complete and verified."""
    return (directory / COPYING).exists() or ((directory / UNFINISHED).exists() and not (directory / DATABASE).exists())


def credentials(directory: Path) -> dict[str, bytes]:
    """Return the files of a data directory that identify the server, by their relative names."""
    token, pki = CREDENTIALS
    paths = [directory / token, *sorted((directory / pki).rglob("*"))]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def restore(
    path: Path, summary: Summary, directory: Path, *, bump_revision: int = BUMP_REVISION, progress: Progress
) -> int:
    """Create a store in `directory` from a verified snapshot. Return the store's revision.

    The caller has locked the directory and called `check_empty`. Objects keep their revisions. The store's revision
    grows by `bump_revision`, and the history before it counts as compacted, so every watch must list again. Raises
    `SnapshotError`, `OSError`, `sqlite3.Error`; no store exists then.
    """
    draft = directory / UNFINISHED
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    try:
        revision = summary.header.revision + bump_revision
        if not 0 < revision < _REVISION_MAX:
            raise SnapshotError(f"the store's revision would be {revision}, which is out of range")
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
        raise SnapshotError(f"{path} has {counted(done, 'key')}, but its totals have {total}")


def _write_private(draft: Path, name: str, content: bytes) -> None:
    parts = Path(name).parts
    # A snapshot may come from elsewhere, and must not write outside the directory or over other files.
    if not parts or ".." in parts or parts[0] not in CREDENTIALS:
        raise SnapshotError(f"a file of the snapshot has an invalid name: {name!r}")
    target = draft.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Created with these permissions: between an open and a chmod, others could read the key.
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _move(draft: Path, directory: Path) -> None:
    """Move everything to its place, the database last. Replaces files that a killed restore has already moved."""
    for path in _files_first(draft):
        # In a fixed order with the database last: its presence is the sign that the restore is complete.
        target = directory / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.replace(target)
        # A rename is durable only when the directory is synced. Without it, a crash could reorder the renames.
        sync_directory(directory)
    draft.rmdir()
    sync_directory(directory)


def _files_first(draft: Path) -> Iterator[Path]:
    paths = sorted(draft.iterdir())
    yield from (path for path in paths if path.name != DATABASE)
    yield from (path for path in paths if path.name == DATABASE)
