"""`sampan up` on a data directory that has lost its database, or whose database is damaged."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.server import failing, running


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory of a server that has ended."""
    data = tmp_path / "data"
    with running(data) as server:
        server.process.terminate()
        server.process.wait(20)
    return data


def lose(data: Path, how: str) -> None:
    """Delete the database, or all its files, or empty it."""
    for file in data.glob("state.db*" if how == "all" else "state.db"):
        file.unlink()
    if how == "emptied":
        (data / "state.db").touch()


@pytest.mark.parametrize("how", ["deleted", "all", "emptied"])
def test_a_server_whose_database_is_gone_is_not_started_and_reports_what_to_do(data: Path, how: str) -> None:
    lose(data, how)
    code, _, errors = failing(data)
    assert code == 1
    assert f"{data}/state.db is missing or empty" in errors
    assert f"`sampan snapshot restore FILE --data {data}`" in errors
    assert "--new-cluster" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("how", ["deleted", "all", "emptied"])
def test_with_new_cluster_it_begins_a_new_one(data: Path, how: str) -> None:
    lose(data, how)
    with running(data, "--new-cluster") as server:
        assert server.status("/api/v1/namespaces", server.token)["items"]


def test_new_cluster_leaves_a_database_alone_that_is_there(data: Path) -> None:
    with running(data, "--new-cluster") as server:
        before = server.status("/api/v1/namespaces/default", server.token)["metadata"]["uid"]
        server.process.terminate()
        server.process.wait(20)
    with running(data, "--new-cluster") as server:
        assert server.status("/api/v1/namespaces/default", server.token)["metadata"]["uid"] == before


def test_a_directory_that_had_another_engine_begins_with_sqlite(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, "--storage", "memory"):
        pass
    with running(data) as server:
        assert server.get("/readyz") == (200, b"ok")


def test_a_damaged_database_is_refused_and_check_names_the_fault(data: Path) -> None:
    database = data / "state.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    code, _, errors = failing(data)
    assert code == 1
    assert f"{database} is damaged" in errors
    assert f"`sampan storage check {data}`" in errors
    assert f"`sampan snapshot restore FILE --data {data}`" in errors
    line = [sys.executable, "-m", "sampan.cli", "storage", "check", str(data)]
    checked = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 1
    assert "malformed" in checked.stdout
    assert f"`sampan snapshot restore FILE --data {data}`" in checked.stdout
