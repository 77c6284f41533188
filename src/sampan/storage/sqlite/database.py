"""The database file: its tables, how connections are opened, and the lock that keeps a second process out.

`log` has a row for each write, under its revision; it is the history and holds the values. `current` has a row for each
key that exists, and points into the log. A trigger keeps `current`, so that a group of writes is one statement, and one
transaction. Compaction takes superseded rows out of the log. `state` has one row: how far history is forgotten
(`compacted`), and how far its rows are taken out (`swept`).
"""

import errno
import os
import sqlite3
from contextlib import suppress

APPLICATION_ID = 0x53414D50
SCHEMA_VERSION = 1
FIRST_REVISION = 1
"""The revision of an empty store: 0 means "any" to clients, so it is never given out."""

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
"""The revision, how far history is forgotten, and how far it is swept."""


def lock(path: str) -> sqlite3.Connection:
    """Take the store for this process until the result is closed (or the process dies).

    Raises `BlockingIOError` when another store has it.
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
    """The connection that writes; makes the file and its tables when they are not there.

    Raises `sqlite3.Error` for a file that is damaged or no database, `OSError` for one that is not a store of this
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
    """A connection that only reads."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA cache_size = -4096")
    return connection


def size_bytes(path: str) -> int:
    """What the database and its write-ahead log take on disk."""
    size = 0
    for name in (path, path + "-wal"):
        with suppress(FileNotFoundError):
            size += os.stat(name).st_size
    return size


def is_present(path: str) -> bool:
    """Whether there is a file of this name, be it empty."""
    return os.path.exists(path)


def remove(path: str) -> None:
    """Delete a database that could not be made, with all files next to it."""
    for suffix in ("", "-wal", "-shm", "-reserve", "-lock"):
        with suppress(OSError):
            os.unlink(path + suffix)


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False, cached_statements=600)


def _is_new(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the file is empty. Nothing is written to one that is not a store."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == 0 and version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        return True
    if application != APPLICATION_ID or version != SCHEMA_VERSION:
        raise OSError(errno.EINVAL, "not a store, or one of another version", path)
    return False


def _create(path: str) -> None:
    """An empty file for the owner's eyes only, its name on disk; SQLite gives its other files the same mode."""
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
