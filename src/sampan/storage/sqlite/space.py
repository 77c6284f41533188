"""`DiskSpace`: the reserve that keeps deletes possible on a full disk.

A delete in SQLite needs space too: in the write-ahead log and for its row in the history. So the store keeps a file of
`RESERVE_BYTES` next to the database. While that file cannot be allocated, the store counts as full: it releases the
reserve for deletes and refuses other writes. It recovers when twice the reserve can be allocated. That margin prevents
flapping while the disk has only the space of the released reserve.

Half of the reserve is for the database, to which a checkpoint moves the whole write-ahead log; `log_bytes_max` keeps
the log that short. The other half is for the rows that deletes add.

Other processes may take what the store releases. So the store takes most of it for its own files at once: a checkpoint
moves the log to the database, and `extend_log` makes the file of the log as long as it may become.

A small part remains for a restart: SQLite cannot open a database in WAL mode without a little space for its index of
the log. A closed store keeps the whole reserve, because its disk may be full at the next start.

Concurrency: `hold` and `release` block and run in the writer thread, or before it exists.
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

from sampan.storage.store import StoreFull

RESERVE_BYTES = 16 << 20
START_BYTES = 256 << 10
_OPEN_BYTES = START_BYTES // 2
"""Released for one start: several times what SQLite needs."""
_STEP_BYTES = 64 << 10
_SHARE = 16
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ZEROS = bytes(64 << 10)

Allocate = Callable[[int, int, int], None]


def _allocate(descriptor: int, start: int, size: int) -> None:
    """Reserve a byte range of a file on disk. Raises `OSError`."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, start, size)
        return
    for offset in range(start, start + size, len(_ZEROS)):
        os.pwrite(descriptor, _ZEROS, offset)
    os.fsync(descriptor)


class DiskSpace:
    """Reserve of one database. `error` is the reason why the store is full (None: it is not)."""

    def __init__(self, database: str, *, allocate: Allocate = _allocate) -> None:
        """`allocate(descriptor, start, size)` reserves space on disk; tests replace it."""
        self._database = database
        self._path = database + "-reserve"
        self._allocate = allocate
        self.error: StoreFull | None = None

    def hold(self) -> bool:
        """Allocate the reserve, unless it exists. Return False if the disk has no room for it.

        Raises `OSError` for any other reason than a lack of space.
        """
        try:
            if _size(self._path) < self.size_bytes:
                self._resize(2 * self.size_bytes)
            self._resize(self.size_bytes)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            with suppress(OSError):
                self._resize(START_BYTES)
            self.error = self._full(error)
            return False
        self.error = None
        return True

    def release(self) -> None:
        """Release the reserve, except for the space that the next start needs."""
        if _size(self._path) > START_BYTES:
            os.truncate(self._path, START_BYTES)

    def release_for_start(self) -> None:
        """Release a piece of the reserve that SQLite needs to open the database.

        The rest remains for the next starts, whose server may have been killed.
        """
        present = _size(self._path)
        if present:
            os.truncate(self._path, max(present - _OPEN_BYTES, 0))

    def refill(self) -> None:
        """Allocate as much of the reserve as the disk has room for."""
        self._lengthen(self._path, self.size_bytes)

    def extend_log(self) -> None:
        """Give the file of the write-ahead log its greatest length, or what the disk has room for.

        SQLite ignores what is behind the last frame. Only the thread that writes may call this.
        """
        if _size(self._database + "-wal") > 0:
            self._lengthen(self._database + "-wal", self.log_bytes_max)

    def exhaust(self) -> StoreFull:
        """Count as full until `hold` succeeds. Return the error."""
        if self.error is None:
            self.error = self._full(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        return self.error

    def is_exhausted(self) -> bool:
        """Return True if the disk has no room for a few more blocks."""
        try:
            return self.room(START_BYTES) == 0
        except OSError:
            return False

    def room(self, size: int) -> int:
        """Return how much of a size in bytes the disk has room for, in large steps."""
        probe = self._path + "-probe"
        try:
            descriptor = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                while size > 0 and not self._fits(descriptor, 0, size):
                    size -= _STEP_BYTES
            finally:
                os.close(descriptor)
                os.unlink(probe)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            return 0
        return max(size, 0)

    def _fits(self, descriptor: int, present: int, size: int) -> bool:
        try:
            self._extend(descriptor, present, size)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            return False
        return True

    @cached_property
    def size_bytes(self) -> int:
        """Size of the reserve: at most a small share of the disk."""
        disk = os.statvfs(os.path.dirname(self._path) or ".")
        return max(min(RESERVE_BYTES, disk.f_blocks * disk.f_frsize // _SHARE), START_BYTES)

    @property
    def desired(self) -> str:
        """Free space that the store needs to recover, for messages."""
        return f"{max(2 * self.size_bytes >> 20, 1)} MiB"

    @property
    def log_bytes_max(self) -> int:
        """Size at which the write-ahead log must be moved to the database."""
        return self.size_bytes // 2

    def _resize(self, size: int) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            present = os.fstat(descriptor).st_size
            if present > size:
                os.ftruncate(descriptor, size)
            elif present < size:
                self._extend(descriptor, present, size)
        finally:
            os.close(descriptor)

    def _lengthen(self, path: str, size: int) -> None:
        """Make a file as long as `size`, or as the disk has room for."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            present = os.fstat(descriptor).st_size
            while size > present and not self._fits(descriptor, present, size):
                size -= _STEP_BYTES
        finally:
            os.close(descriptor)

    def _extend(self, descriptor: int, present: int, size: int) -> None:
        try:
            self._allocate(descriptor, present, size - present)
        except OSError:
            os.ftruncate(descriptor, present)  # blocks beyond the end of the file would stay allocated
            raise

    def _full(self, error: OSError) -> StoreFull:
        return StoreFull(
            f"{self._database}: {error.strerror or 'no space left'}: free at least {self.desired} on its disk, or "
            "delete objects; until then only reads and deletes are accepted"
        )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
