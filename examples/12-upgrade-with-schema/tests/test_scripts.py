"""Tests of the Job's script with real files of SQLite."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from worlds import migration

from upgrades.objects import COPY
from upgrades.plan import transaction

ADD = "ALTER TABLE entries ADD COLUMN currency TEXT DEFAULT 'CNY'"


def run(folder: Path, sql: str, new: str = "ledger-1.db") -> int:
    """Run the script in a folder."""
    environment = {**os.environ, "OLD": "ledger-0.db", "NEW": new, "KEPT": "backup-1.db", "SQL": sql}
    script = COPY.replace("/data/", f"{folder}/")
    return subprocess.run([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL).returncode


def old(folder: Path) -> Path:
    """Make the file of version 1."""
    path = folder / "ledger-0.db"
    with sqlite3.connect(path) as found:
        found.execute("CREATE TABLE entries (amount INTEGER)")
        found.execute("INSERT INTO entries VALUES (7)")
    return path


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as found:
        return found.execute(query).fetchall()


def test_a_migration_changes_schema_and_version_of_a_copy(tmp_path: Path) -> None:
    before = old(tmp_path).read_bytes()
    assert run(tmp_path, transaction([migration(1, 2, ADD)], 2)) == 0
    assert rows(tmp_path / "ledger-1.db", "SELECT * FROM entries") == [(7, "CNY")]
    assert rows(tmp_path / "ledger-1.db", "SELECT version FROM schema_version") == [(2,)]
    assert (tmp_path / "ledger-0.db").read_bytes() == before


def test_a_migration_may_run_again(tmp_path: Path) -> None:
    old(tmp_path)
    for _ in range(2):
        assert run(tmp_path, transaction([migration(1, 2, ADD)], 2)) == 0
    assert rows(tmp_path / "ledger-1.db", "SELECT * FROM entries") == [(7, "CNY")]


def test_of_a_migration_that_fails_nothing_stays(tmp_path: Path) -> None:
    old(tmp_path)
    assert run(tmp_path, transaction([migration(1, 2, ADD), migration(2, 3, "DROP TABLE nowhere")], 3)) != 0
    assert rows(tmp_path / "ledger-1.db", "SELECT * FROM entries") == [(7,)]


def test_files_of_earlier_attempts_are_deleted_and_the_backup_is_kept(tmp_path: Path) -> None:
    old(tmp_path)
    for name in ("backup-0.db", "backup-1.db", "ledger-9.db"):
        (tmp_path / name).touch()
    assert run(tmp_path, transaction([migration(1, 2, ADD)], 2)) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["backup-1.db", "ledger-0.db", "ledger-1.db"]


def test_a_backup_is_a_copy(tmp_path: Path) -> None:
    old(tmp_path)
    assert run(tmp_path, "", "backup-1.db") == 0
    assert rows(tmp_path / "backup-1.db", "SELECT * FROM entries") == [(7,)]
