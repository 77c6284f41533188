"""`sampan snapshot` beside a server that serves, and killed in the middle of its work."""

import errno
import http.client
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.storage.snapshot import verify
from tests.cli.server import Server, running

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

KILLED = """
import os, signal, sys
SIGNAL = int(sys.argv.pop(1))
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it
from pathlib import Path
import sampan.cli.stores.snapshot
from sampan.cli.main import main
from sampan.storage.snapshot import writer
from sampan.storage.sqlite import restore

def killed(*arguments, **options):
    os.kill(os.getpid(), SIGNAL)

last = "finish" if SIGNAL == signal.SIGKILL else "add_rows"
module, name = {"save": (writer._Output, last), "restore": (restore, "_move")}[sys.argv[2]]
setattr(module, name, killed)
main(sys.argv[1:])
"""


def sampan(*arguments: str | Path) -> str:
    """Return the output of the command, which must succeed."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: str | Path) -> str:
    """Return the error of the command."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    return result.output


def killed(*arguments: str | Path) -> None:
    """The command, killed before the last step."""
    process = signalled(signal.SIGKILL, *arguments)
    assert process.returncode == -signal.SIGKILL, process.stderr


def signalled(number: int, *arguments: str | Path) -> "subprocess.CompletedProcess[bytes]":
    """The command, which gets a signal in the middle; SIGKILL before the last step."""
    line = [sys.executable, "-c", KILLED, str(int(number)), *map(str, arguments)]
    return subprocess.run(line, check=False, capture_output=True)


def create(server: Server, names: Sequence[str]) -> None:
    """ConfigMaps, written through the API."""
    connection = server.connect()
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    for name in names:
        body = {"metadata": {"name": name}, "data": {"name": name}}
        connection.request("POST", CONFIG_MAPS, json.dumps(body), headers)
        response: http.client.HTTPResponse = connection.getresponse()
        assert response.status == 201, response.read()
        response.read()
    connection.close()


def names(server: Server) -> set[str]:
    """The ConfigMaps that were created."""
    found = server.status(CONFIG_MAPS, server.token)["items"]
    return {item["metadata"]["name"] for item in found} - {"kube-root-ca.crt"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a snapshot of a running server with its credentials, and return the directory."""
    directory = tmp_path_factory.mktemp("snapshot")
    with running(directory / "data") as server:
        create(server, ["a", "b"])
        sampan("snapshot", "save", directory / "s", "--data", directory / "data", "--with-credentials")
        create(server, ["later"])
    return directory / "s"


def test_a_restored_snapshot_is_served_with_its_token_at_a_later_revision(snapshot: Path, tmp_path: Path) -> None:
    before = verify(snapshot, lambda done, size: None).header.revision
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    token = (tmp_path / "data" / "admin.token").read_text()
    with running(tmp_path / "data") as server:
        assert names(server) == {"a", "b"}
        assert (tmp_path / "data" / "admin.token").read_text() == token
        revision = server.status(CONFIG_MAPS, server.token)["metadata"]["resourceVersion"]
        assert int(revision) >= before + 1_000_000_000
        code, _ = server.get(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={before}", server.token)
        events = server.get(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={before}", server.token)[1]
        assert code == 410 or json.loads(events.splitlines()[0])["object"]["code"] == 410


def test_status_reports_what_a_file_holds(snapshot: Path) -> None:
    lines = dict(line.split(":", 1) for line in sampan("snapshot", "status", snapshot).splitlines())
    assert lines["engine"].strip() == "sqlite"
    assert lines["sha256"].strip() == snapshot.read_bytes()[-65:-1].decode()
    assert lines["credentials"].strip().endswith("files")


def test_save_does_not_replace_a_file(snapshot: Path, tmp_path: Path) -> None:
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    assert "use --force to replace it" in refused("snapshot", "save", snapshot, "--data", tmp_path / "data")
    (tmp_path / "s").write_text("old")
    sampan("snapshot", "save", tmp_path / "s", "--data", tmp_path / "data", "--force")
    sampan("snapshot", "status", tmp_path / "s")


@pytest.mark.parametrize("command", [("save", "--data", "data"), ("restore", "--data", "data"), ("status",)])
def test_the_standard_input_and_output_are_no_snapshot(command: tuple[str, ...]) -> None:
    output = CliRunner().invoke(cli, ["snapshot", *command, "-"])
    assert output.exit_code == 2
    assert "a snapshot is a file, not the standard input or output" in output.output


def test_a_directory_that_is_not_there_is_named_when_a_snapshot_is_to_be_saved_in_it(
    snapshot: Path, tmp_path: Path
) -> None:
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    output = refused("snapshot", "save", tmp_path / "backups" / "s", "--data", tmp_path / "data")
    assert output == f"Error: the directory {tmp_path / 'backups'} does not exist\n"


def test_save_warns_of_the_credentials(snapshot: Path, tmp_path: Path) -> None:
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    output = sampan("snapshot", "save", tmp_path / "s", "--data", tmp_path / "data", "--with-credentials")
    assert output.startswith("Warning: ")


def test_a_directory_in_use_is_refused(snapshot: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pki").mkdir()
    assert "is not empty: it contains pki" in refused("snapshot", "restore", snapshot, "--data", tmp_path / "data")


def test_a_damaged_file_restores_nothing(snapshot: Path, tmp_path: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "s").write_bytes(content)
    assert "checksum" in refused("snapshot", "restore", tmp_path / "s", "--data", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_data_directory_without_a_store_is_reported(tmp_path: Path) -> None:
    assert "the store does not exist" in refused("snapshot", "save", tmp_path / "s", "--data", tmp_path)


def test_a_killed_save_leaves_no_snapshot_and_the_next_makes_one(snapshot: Path, tmp_path: Path) -> None:
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    killed("snapshot", "save", tmp_path / "s", "--data", tmp_path / "data")
    assert not (tmp_path / "s").exists()
    sampan("snapshot", "save", tmp_path / "s", "--data", tmp_path / "data")
    sampan("snapshot", "status", tmp_path / "s")
    assert {path.name for path in tmp_path.iterdir()} == {"data", "s"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_a_client_that_is_reported_to_end_leaves_nothing_half_done(snapshot: Path, tmp_path: Path, number: int) -> None:
    saved = signalled(number, "snapshot", "save", tmp_path / "s", "--data", snapshot.with_name("data"))
    restored = signalled(number, "snapshot", "restore", snapshot, "--data", tmp_path / "data")
    for process in (saved, restored):
        assert (process.returncode, process.stderr.strip()) == (1, b"sampan: error: aborted")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["data", "data/lock"]


def test_a_killed_restore_is_not_served_and_the_next_restores(snapshot: Path, tmp_path: Path) -> None:
    killed("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    assert "interrupted" in refused_start(tmp_path / "data")
    sampan("snapshot", "restore", snapshot, "--data", tmp_path / "data")
    with running(tmp_path / "data") as server:
        assert names(server) == {"a", "b"}


def refused_start(data: Path) -> str:
    """Return the error of a server that does not start."""
    command = [sys.executable, "-m", "sampan.cli", "up", "--data", str(data), "--port", "0"]
    process = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert process.returncode == 1, process.stdout
    return process.stderr


@pytest.mark.parametrize(
    ("error", "output"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "{data}: No space left on device"),
        (sqlite3.OperationalError("database or disk is full"), "{data}: database or disk is full"),
    ],
    ids=["system", "database"],
)
def test_a_full_disk_is_reported_with_its_place(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, output: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sampan.cli.stores.snapshot.restore", full)
    data = tmp_path / "data"
    assert output.format(data=data) in refused("snapshot", "restore", snapshot, "--data", data)
