"""`DatabaseHealth`: tracks whether a database can be written: enough space, no damage, and the file still in its place.

Concurrency: `begin`, `look` and `scrub` block; they run in a thread. `explain` runs in the writer thread, or on the
event loop after a failed read.
"""

import logging
import os
import sqlite3
from contextlib import closing, suppress

from sampan.storage.sqlite.damage import damaged, is_damage
from sampan.storage.sqlite.database import open_reader
from sampan.storage.sqlite.growth import PAGES_MAX, keep_free_pages, limit_growth, stop_growth
from sampan.storage.sqlite.space import DiskSpace
from sampan.storage.store import StoreDamaged, StoreFull, StoreUnavailable

_log = logging.getLogger("sampan.storage")

_PAGE_BYTES = 4096
_SPACE_ERRORS = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class DatabaseHealth:
    """Condition of one database. `fault` is the reason why it refuses writes (None: it accepts them)."""

    def __init__(self, path: str, *, bounded: bool = False, space: DiskSpace | None = None) -> None:
        """`bounded`: the database has a maximum size. SQLite then reports "full" although the disk has space."""
        self._path = path
        self._bounded = bounded
        self._space = space or DiskSpace(path)
        self._damage: StoreDamaged | None = None
        self._pages_max = PAGES_MAX
        self._identity: tuple[int, int] | None = None
        self._checking: sqlite3.Connection | None = None

    @property
    def fault(self) -> StoreUnavailable | None:
        """Known reason why writes are refused; None if they are accepted."""
        return self._damage or self._space.error

    @property
    def full(self) -> bool:
        """True if only steps of deletions are accepted."""
        return self._space.error is not None

    def begin(self, connection: sqlite3.Connection, *, new: bool) -> None:
        """Allocate the reserve for a database that was just opened.

        Raises `StoreFull` for a `new` database on a full disk.
        """
        self._identity = _identity(self._path)
        pages = self._space.log_bytes_max // connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        self._pages_max = connection.execute("PRAGMA max_page_count").fetchone()[0]
        if self._space.hold():
            return
        if new:
            raise StoreFull(
                f"{self._path}: no space left on the disk: a new store needs {self._space.desired}: free space "
                "there, or choose another directory with --data"
            )
        self._use_released_space(connection)
        _log.error("store accepts only reads and deletes: %s", self._space.error)

    def end(self) -> None:
        """Keep the reserve for the next start. The database must be closed."""
        with suppress(OSError):
            self._space.refill()

    def use_reserve(self) -> None:
        """Use a piece of the reserve to open the database."""
        self._space.release_for_start()

    def look(self, writer: sqlite3.Connection) -> None:
        """Check the file and the space again. Raises `StoreDamaged`, `StoreFull`."""
        if self._damage is None and self._identity != _identity(self._path):
            self._note(damaged(self._path, "the file was deleted or replaced while the server runs"))
        if self._damage is not None:
            raise self._damage
        if self._space.error is None:
            return
        if not self._space.hold():
            raise self._space.error
        limit_growth(writer, self._pages_max)
        _log.warning("store accepts writes again: %s has enough space", self._path)

    def explain(self, error: Exception, writer: sqlite3.Connection | None = None) -> Exception:
        """Return the error for the callers of a failed operation. Detects damage and a full disk.

        `writer`: the connection that writes, if the operation was a write.
        """
        if not isinstance(error, sqlite3.Error):
            return error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        reported: Exception
        if is_damage(error):
            reported = self._note(damaged(self._path, error))
        elif self._is_for_lack_of_space(code):
            reported = self._fill(writer)
        elif code == sqlite3.SQLITE_FULL:
            reported = StoreFull(
                f"{self._path}: the store has reached its maximum size: delete objects; until then only reads and "
                "deletes are accepted"
            )
        else:
            reported = StoreUnavailable(f"{self._path}: {error}")
        reported.__cause__ = error
        return reported

    def missing(self, what: str) -> StoreDamaged:
        """Return the error for a row that must exist but does not."""
        return self._note(damaged(self._path, f"{what} is missing"))

    def scrub(self) -> None:
        """Read all pages once and check their structure. Records damage; returns early after `stop`."""
        try:
            with closing(open_reader(self._path)) as connection:
                self._checking = connection
                found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok":
                    self._note(damaged(self._path, found))
        except sqlite3.Error as error:
            if is_damage(error):
                self._note(damaged(self._path, error))
        finally:
            self._checking = None

    def stop(self) -> None:
        """Make `scrub` return."""
        connection = self._checking
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.interrupt()

    @property
    def free_pages_min(self) -> int | None:
        """Free pages that the database keeps while the disk is full: for a step of a deletion (None: it is not full).

        They have three quarters of the log's size, because one commit in the log creates them.
        """
        return self._space.log_bytes_max * 3 // 4 // _PAGE_BYTES if self.full else None

    def _is_for_lack_of_space(self, code: int) -> bool:
        if code == sqlite3.SQLITE_FULL:
            return self.full or not self._bounded or self._space.is_exhausted()
        return code in _SPACE_ERRORS and self._space.is_exhausted()

    def _fill(self, writer: sqlite3.Connection | None) -> StoreFull:
        before, full = self._space.error, self._space.exhaust()
        if before is None:
            _log.error("store accepts only reads and deletes: %s", full)
        self._space.release()
        if writer is not None:
            self._use_released_space(writer)
        return full

    def _use_released_space(self, writer: sqlite3.Connection) -> None:
        """Take the space of the reserve for the database, before other processes take it.

        The log moves to the database, so that deletes fill its file from the start.
        """
        with suppress(sqlite3.Error, OSError):
            limit_growth(writer, self._pages_max)
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            writer.execute("UPDATE state SET swept = swept")  # begins the log: it may have no file yet
            self._space.extend_log()
        with suppress(sqlite3.Error, OSError):
            keep_free_pages(writer, self.free_pages_min or 0, self._space.room)
        with suppress(sqlite3.Error):
            if writer.in_transaction:
                writer.rollback()
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            stop_growth(writer)

    def _note(self, damage: StoreDamaged) -> StoreDamaged:
        if self._damage is None:
            _log.error("store refuses writes: %s", damage)
            self._damage = damage
        return self._damage


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
