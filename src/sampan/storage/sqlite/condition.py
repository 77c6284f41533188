"""`Condition`: tracks whether a database can be written: enough space, no damage, and the file still in its place.

Concurrency: `begin`, `look` and `scrub` block; they run in a thread. `explain` runs in the writer thread, or on the
event loop after a failed read.
"""

import logging
import os
import sqlite3
from contextlib import closing, suppress

from sampan.storage.sqlite.damage import damaged, is_damage
from sampan.storage.sqlite.database import open_reader
from sampan.storage.sqlite.space import START_BYTES, DiskSpace
from sampan.storage.store import StoreDamaged, StoreFull, StoreUnavailable

_log = logging.getLogger("sampan.storage")

_SPACE_ERRORS = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class Condition:
    """Condition of one database. `fault` is the reason why it refuses writes (None: it accepts them)."""

    def __init__(self, path: str, *, bounded: bool = False, space: DiskSpace | None = None) -> None:
        """`bounded`: the database has a maximum size. SQLite then reports "full" although the disk has space."""
        self._path = path
        self._bounded = bounded
        self._space = space or DiskSpace(path)
        self._damage: StoreDamaged | None = None
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
        if self._space.hold():
            return
        if new:
            raise StoreFull(
                f"{self._path}: no space left on the disk: a new store needs {self._space.desired}: free space "
                "there, or choose another directory with --data"
            )
        _log.error("store accepts only reads and deletes: %s", self._space.error)

    def end(self) -> None:
        """Release the reserve, except for the space that the next start needs. The database must be closed."""
        with suppress(OSError):
            self._space.release(START_BYTES)

    def give_up_reserve(self) -> None:
        """Use all of the reserve to open the database."""
        self._space.release(0)

    def look(self, _: sqlite3.Connection) -> None:
        """Check the file and the space again. Raises `StoreDamaged`, `StoreFull`."""
        if self._damage is None and self._identity != _identity(self._path):
            self._note(damaged(self._path, "the file was deleted or replaced while the server runs"))
        if self._damage is not None:
            raise self._damage
        if self._space.error is None:
            return
        if not self._space.hold():
            raise self._space.error
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
        elif not self._bounded and (code == sqlite3.SQLITE_FULL or self._is_for_lack_of_space(code)):
            reported = self._fill()
            if writer is not None:
                with suppress(sqlite3.Error):  # an empty log has room for deletes without growing
                    writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        else:
            kind = StoreFull if code == sqlite3.SQLITE_FULL else StoreUnavailable
            reported = kind(f"{self._path}: {error}")
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

    def _is_for_lack_of_space(self, code: int) -> bool:
        return code in _SPACE_ERRORS and self._space.is_exhausted()

    def _fill(self) -> StoreFull:
        if self._space.error is None:
            _log.error("store accepts only reads and deletes: %s", self._space.exhaust())
        self._space.release()
        return self._space.exhaust()

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
