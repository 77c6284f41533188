"""`RotatingFile`: a log file that is rotated at a maximum size. Only some of the backups are kept.

Backups have the names that Kubernetes uses: `audit.log` becomes `audit-2026-01-02T15-04-05.000.log`, in UTC.
Source: gopkg.in/natefinch/lumberjack.v2 as kube-apiserver uses it (1.36).
"""

import datetime as dt
import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sampan.core.settings import setting
from sampan.core.settings.kinds import integer

_TIME = "%Y-%m-%dT%H-%M-%S"
_PACKED = ".gz"


@dataclass(frozen=True, slots=True)
class RotationSettings:
    """Limits of the file and its backups; 0 for no limit."""

    max_size_bytes: int = setting(
        100 << 20,
        "Size in megabytes beyond which a new file is started; 0: never. A single write may be longer.",
        name="maxsize",
        kind=integer(0, metavar="MEGABYTES", factor=1 << 20),
    )
    max_backups: int = setting(
        100, "Number of old files to keep; 0: all.", name="maxbackup", kind=integer(0, metavar="FILES")
    )
    max_age_days: int = setting(
        366, "Days to keep old files; 0: any time.", name="maxage", kind=integer(0, metavar="DAYS")
    )
    compress: bool = setting(False, "Compress old files with gzip.")


class RotatingFile:
    """File that rotates. The constructor creates its directory and opens it. Raises `OSError`. Only one thread may
    write.
    """

    def __init__(self, path: Path, settings: RotationSettings, now: Callable[[], dt.datetime]) -> None:
        """`now` returns the time in UTC."""
        self._path, self._settings, self._now = path, settings, now
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = -1
        self._size = 0
        self._open()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size

    def write(self, data: bytes) -> bool:
        """Append. Return True if the file was rotated, so that `tidy` should be called. Raises `OSError`."""
        limit = self._settings.max_size_bytes
        rotated = bool(limit and self._size and self._size + len(data) > limit)
        if rotated:
            self._rotate()
        self._size += len(data)
        written = os.write(self._file, data)
        while written < len(data):
            written += os.write(self._file, data[written:])
        return rotated

    def _rotate(self) -> None:
        now = self._now()
        shown = f"{now.strftime(_TIME)}.{now.microsecond // 1000:03d}"
        backup = self._path.with_name(f"{self._path.stem}-{shown}{self._path.suffix}")
        os.close(self._file)
        os.rename(self._path, backup)
        self._open()

    def tidy(self) -> None:
        """Remove and compress backups. May run in another thread than `write`."""
        oldest = self._now() - dt.timedelta(days=self._settings.max_age_days)
        for kept, (when, file) in enumerate(sorted(self._backups(), reverse=True)):
            too_many = self._settings.max_backups and kept >= self._settings.max_backups
            too_old = self._settings.max_age_days and when < oldest
            if too_many or too_old:
                file.unlink(missing_ok=True)
            elif self._settings.compress and file.suffix != _PACKED:
                _pack(file)

    def _backups(self) -> Iterator[tuple[dt.datetime, Path]]:
        """Yield time and path of each backup."""
        prefix, suffix = f"{self._path.stem}-", self._path.suffix
        for file in self._path.parent.iterdir():
            name = file.name.removesuffix(_PACKED)
            if name.startswith(prefix) and name.endswith(suffix):
                shown = name[len(prefix) : len(name) - len(suffix)]
                with suppress(ValueError):
                    yield dt.datetime.strptime(shown, f"{_TIME}.%f").replace(tzinfo=dt.UTC), file

    def close(self) -> None:
        """Close the current file. Nothing can be written after that."""
        os.close(self._file)


def _pack(file: Path) -> None:
    """Compress a file. The original is removed after the compressed file is complete."""
    packed = file.with_name(file.name + _PACKED)
    half = file.with_name(file.name + ".part")
    with file.open("rb") as source, gzip.open(half, "wb") as target:
        shutil.copyfileobj(source, target)
    half.chmod(0o600)
    half.rename(packed)
    file.unlink()
