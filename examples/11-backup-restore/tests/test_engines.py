"""Tests of the scripts for SQLite with real files, in folders instead of volumes."""

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from ledgers.engines import BACKUP, DUMP, LOAD, RESTORE


@pytest.fixture
def volumes(tmp_path: Path) -> Path:
    """Make the volumes `data` with an entry, `backup` and `new`."""
    for name in ("data", "backup", "new"):
        (tmp_path / name).mkdir()
    with sqlite3.connect(tmp_path / "data/ledger.db") as ledger:
        ledger.execute("CREATE TABLE entries (note)")
        ledger.execute("INSERT INTO entries VALUES ('first')")
    return tmp_path


def run(volumes: Path, script: str, data: str = "data", checksum: str = "") -> tuple[bool, str]:
    """Run a script. Return whether it has succeeded, and its report."""
    places = {"/data": volumes / data, "/backup": volumes / "backup", "/dev/termination-log": volumes / "report"}
    for path, place in places.items():
        script = script.replace(path, str(place))
    environment = {**os.environ, "CHECKSUM": checksum}
    done = subprocess.run(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, timeout=60)
    return done.returncode == 0, (volumes / "report").read_text()


def back_up(volumes: Path) -> str:
    """Make a copy, and return its checksum."""
    done, report = run(volumes, BACKUP.format(dump=DUMP["sqlite"]))
    checksum, size = report.split()
    assert (done, int(size)) == (True, (volumes / "backup/copy").stat().st_size)
    return checksum


def restore(volumes: Path, checksum: str) -> tuple[bool, str]:
    """Load the copy into the volume `new`."""
    return run(volumes, RESTORE.format(load=LOAD["sqlite"]), "new", checksum)


def entries(path: Path) -> list[str]:
    with sqlite3.connect(path) as ledger:
        return [each for (each,) in ledger.execute("SELECT note FROM entries")]


def test_a_copy_has_the_entries_of_the_ledger(volumes: Path) -> None:
    done, _ = restore(volumes, back_up(volumes))
    assert done
    assert entries(volumes / "new/ledger.db") == ["first"]


def test_a_backup_may_run_again(volumes: Path) -> None:
    (volumes / "backup/part").write_text("half of a copy")
    assert back_up(volumes) == back_up(volumes)


def test_a_corrupt_copy_is_not_loaded(volumes: Path) -> None:
    checksum = back_up(volumes)
    with (volumes / "backup/copy").open("ab") as copy:
        copy.write(b"x")
    done, report = restore(volumes, checksum)
    assert not done
    assert "did NOT match" in report
    assert not (volumes / "new/ledger.db").exists()


def test_a_ledger_without_a_file_cannot_be_backed_up(volumes: Path) -> None:
    (volumes / "data/ledger.db").unlink()
    done, report = run(volumes, BACKUP.format(dump=DUMP["sqlite"]))
    assert not done
    assert "unable to open database file" in report
    assert not (volumes / "backup/copy").exists()


def test_a_copy_is_made_between_two_transactions(volumes: Path) -> None:
    with sqlite3.connect(volumes / "data/ledger.db", isolation_level=None) as ledger:
        ledger.execute("BEGIN IMMEDIATE")
        ledger.execute("INSERT INTO entries VALUES ('half of a transaction')")
        script = BACKUP.format(dump=DUMP["sqlite"]).replace("timeout=60", "timeout=0")
        done, report = run(volumes, script)
        assert not done
        assert "database is locked" in report
        ledger.execute("ROLLBACK")
    restore(volumes, back_up(volumes))
    assert entries(volumes / "new/ledger.db") == ["first"]
