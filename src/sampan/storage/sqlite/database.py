"""Database file: its tables, its connections, and the lock that excludes other processes.

`log` has a row for each write, under its revision. It is the history and contains the values. `current` has a row for
each existing key, which points into the log. A trigger maintains `current`, so a group of writes is one statement and
one transaction. Compaction deletes superseded rows from the log. `state` has one row: the compacted revision
(`compacted`), and the revision up to which rows have been deleted (`swept`).
"""

import errno
import fcntl
import os
import sqlite3
from contextlib import suppress
from urllib.parse import quote

from sampan.storage.sqlite.growth import limit_growth

APPLICATION_ID = 0x53414D50
SCHEMA_VERSION = 1
FIRST_REVISION = 1
"""Revision of an empty store. It is not 0, which means "any" to clients."""

_SCHEMA = f"""
CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    create_revision INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    value BLOB
);
CREATE TABLE current (
    key TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE state (compacted INTEGER NOT NULL, swept INTEGER NOT NULL);
INSERT INTO state VALUES (0, 0);
CREATE TRIGGER put AFTER INSERT ON log WHEN NEW.value IS NOT NULL BEGIN
    INSERT OR REPLACE INTO current VALUES (NEW.key, NEW.revision, NEW.create_revision, NEW.expires_at);
END;
CREATE TRIGGER remove AFTER INSERT ON log WHEN NEW.value IS NULL BEGIN
    DELETE FROM current WHERE key = NEW.key;
END;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""

SNAPSHOT = f"""
SELECT max({FIRST_REVISION}, compacted, coalesce((SELECT max(revision) FROM log), 0)), compacted, swept FROM state
"""
"""Query of the revision, the compacted revision, and the revision up to which rows have been deleted."""


def lock(path: str) -> int:
    """Lock the store until the returned descriptor is closed (or the process dies). Needs no space on the disk.

    Raises `BlockingIOError` if another store has the lock, `OSError`.
    """
    _create(path + "-lock")
    descriptor = os.open(path + "-lock", os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise BlockingIOError(errno.EAGAIN, "the store is in use by another process", path) from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_writer(path: str, size_bytes_max: int) -> sqlite3.Connection:
    """Open the connection that writes. Create the file and its tables if they do not exist.

    Raises `sqlite3.Error` for a file that is damaged or not a database, `OSError` for one that is not a store of this
    version.
    """
    _create(path)
    connection = _connect(path)
    try:
        new = _is_new(connection, path)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        # Some builds overwrite deleted values with zeros: a sweep would then write as much to the log as it frees.
        connection.execute("PRAGMA secure_delete = FAST").fetchall()
        connection.execute("PRAGMA cache_size = -16384")
        if new:
            connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
        if size_bytes_max:
            page_size = connection.execute("PRAGMA page_size").fetchone()[0]
            limit_growth(connection, max(size_bytes_max // page_size, 1))
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: str) -> sqlite3.Connection:
    """Open a connection that only reads. It may move the log to the database when it is closed last."""
    return _reader(path, "rw", alone=False)


def open_present_reader(path: str) -> sqlite3.Connection:
    """Open a connection that only reads, and needs no space on the disk. It keeps the log as it is, if there is one."""
    try:
        return _reader(path, "ro" if os.path.exists(path + "-wal") else "rw", alone=False)
    except sqlite3.OperationalError:
        # SQLite shares its index of the log in a file, which cannot be created on a full disk. The only process that
        # uses a store may keep the index in memory; while a server runs, the file exists.
        return _reader(path, "rw", alone=True)


def _reader(path: str, mode: str, *, alone: bool) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -4096")
        connection.execute("PRAGMA user_version").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def size_bytes(path: str) -> int:
    """Return the size of the database and its write-ahead log on disk."""
    size = 0
    for name in (path, path + "-wal"):
        with suppress(FileNotFoundError):
            size += os.stat(name).st_size
    return size


def is_present(path: str) -> bool:
    """Return True if a file of this name exists, even an empty one."""
    return os.path.exists(path)


def remove(path: str) -> None:
    """Delete a database whose creation failed, with all files that SQLite keeps next to it."""
    for suffix in ("", "-wal", "-shm", "-reserve", "-lock"):
        with suppress(OSError):
            os.unlink(path + suffix)


def _connect(path: str, mode: str = "rw") -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.path.abspath(path))}?mode={mode}",
        uri=True,
        timeout=5,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=600,
    )


def _is_new(connection: sqlite3.Connection, path: str) -> bool:
    """Return True if the file is empty. Raises `OSError` for a file that is not a store, and never writes to it."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == 0 and version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        return True
    if application != APPLICATION_ID or version != SCHEMA_VERSION:
        raise OSError(errno.EINVAL, "not a store, or a store of another version", path)
    return False


def _create(path: str) -> None:
    """Create an empty file for its owner only, and sync its name. SQLite gives its other files the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    if os.name == "posix":
        directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
