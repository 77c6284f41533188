"""Database file: its tables, its connections, and the lock that excludes other processes.

`log` has a row for each write, under its revision. It is the history and contains the values. `current` has a row for
each existing key, which points into the log. A trigger maintains `current`, so a group of writes is one statement and
one transaction. Compaction deletes superseded rows from the log. `state` has one row: the compacted revision
(`compacted`), and the revision up to which rows have been deleted (`swept`).
"""

import errno
import os
import sqlite3
from contextlib import suppress

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


def lock(path: str) -> sqlite3.Connection:
    """Lock the store for this process until the result is closed (or the process dies).

    Raises `BlockingIOError` if another store has the lock.
    """
    _create(path + "-lock")
    connection = sqlite3.connect(path + "-lock", timeout=0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        connection.close()
        raise BlockingIOError(errno.EAGAIN, "the store is in use by another process", path) from error
    return connection


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
        connection.execute("PRAGMA cache_size = -16384")
        if new:
            connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
        if size_bytes_max:
            page_size = connection.execute("PRAGMA page_size").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {max(size_bytes_max // page_size, 1)}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: str) -> sqlite3.Connection:
    """Open a connection that only reads."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA cache_size = -4096")
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


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False, cached_statements=600)


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
