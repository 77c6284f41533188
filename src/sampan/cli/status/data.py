"""State of a data directory, read from its files. The server need not run."""

import fcntl
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from sampan.app.engines import ENGINES
from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.app.storage.data_directory import ENGINE_FILE, check_database, check_whole
from sampan.core.clock import utc_now
from sampan.core.numbers.counts import counted
from sampan.server.pki.directory import check_authorities
from sampan.storage.sqlite.damage import damaged, is_damage
from sampan.storage.sqlite.database import SNAPSHOT
from sampan.storage.sqlite.dump import open_present
from sampan.storage.sqlite.restore import DATABASE, LOCK_FILE

RENEW_DAYS = 30
"""A certificate that expires within this number of days is reported. Servers renew their own certificates earlier."""
FREE_BYTES_MIN = 256 << 20


@dataclass(frozen=True, slots=True)
class Certificate:
    """Certificate in the data directory."""

    name: str
    expires: str
    """Time of expiry, as in RFC 3339."""
    days_left: int


@dataclass(frozen=True, slots=True)
class DataStatus:
    """State of a data directory. Sizes are in bytes."""

    path: str
    engine: str
    in_use: bool
    """True if a server uses the directory."""
    store_bytes: int
    free_bytes: int
    certificates: tuple[Certificate, ...]
    damage: str = ""
    """Reason why no server can start on the directory, with the action to take. Empty if none is known."""


def read_data_status(directory: Path) -> DataStatus | None:
    """Return the state of a directory; None if it is not a data directory. Raises `OSError` if it cannot be read."""
    if not (directory / LOCK_FILE).exists():
        return None
    engine = directory / ENGINE_FILE
    name = engine.read_text().strip() if engine.exists() else "sqlite"
    return DataStatus(
        str(directory.absolute()),
        name,
        _is_locked(directory / LOCK_FILE),
        sum(file.stat().st_size for file in directory.glob(f"{DATABASE}*") if file.is_file()),
        shutil.disk_usage(directory).free,
        tuple(sorted(_certificates(directory / "pki"), key=lambda each: each.days_left)),
        _authorities_damage(directory) or _damage(directory, name),
    )


def faults_of(status: DataStatus) -> list[str]:
    """Return the faults of the directory, each with the action to take."""
    faults = [status.damage] if status.damage else []
    for each in status.certificates:
        if each.days_left < 0:
            faults.append(f"{each.name} has expired: remove it with its key, and start the server again")
        elif each.days_left < RENEW_DAYS and not each.name.startswith(("ca.", "front-proxy-ca.")):
            faults.append(
                f"{each.name} expires in {counted(each.days_left, 'day')}: start the server again, which renews it"
            )
    if status.free_bytes < FREE_BYTES_MIN:
        faults.append(f"only {status.free_bytes >> 20} MiB are free: make room on the disk of {status.path}")
    return faults


def _damage(directory: Path, engine: str) -> str:
    """Return the fault of the database, as far as a start would find it. Does not read all of it."""
    make = ENGINES.get(engine)
    if make is None:
        return f"{directory / ENGINE_FILE} has no engine's name: it must be one of {', '.join(ENGINES)}"
    storage = make()
    try:
        check_whole(directory)
        check_database(UpSettings(data=directory, storage=storage))
    except StartError as error:
        return str(error)
    database = storage.database(directory)
    if database is None or not database.exists() or database.stat().st_size == 0:
        return ""
    try:
        with closing(open_present(str(database))) as connection:
            connection.execute(SNAPSHOT).fetchone()
            connection.execute("SELECT count(*) FROM current").fetchone()
    except sqlite3.Error as error:
        return str(damaged(str(database), error)) if is_damage(error) else ""
    except OSError as error:
        return f"{database}: {error.strerror}: move {directory} away, or choose another directory with --data"
    return ""


def _authorities_damage(directory: Path) -> str:
    try:
        check_authorities(directory)
    except ValueError as error:
        return str(error)
    return ""


def _is_locked(file: Path) -> bool:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _certificates(directory: Path) -> list[Certificate]:
    now = utc_now()
    found = []
    for file in sorted(directory.glob("*.crt")):
        try:
            expires = x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
        except ValueError:
            continue
        found.append(Certificate(file.name, expires.strftime("%Y-%m-%dT%H:%M:%SZ"), (expires - now).days))
    return found
