"""`sampan status` of a running server, a stopped one, and a directory with an expired certificate."""

import datetime as dt
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.cli.status.data import read_data_status
from sampan.server.pki.certificates import make_client, read_key_pair
from sampan.server.pki.directory import prepare_credentials
from sampan.storage.sqlite.restore import LOCK_FILE
from tests.cli.server import Server, running
from tests.user_environment import user_environment


def status(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sampan.cli", "status", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("status") / "data") as server:
        yield server


def parts_of(text: str) -> dict[str, str]:
    """Return the first line of each part by its title."""
    lines = text.splitlines()
    return {line[:14].strip(): line[15:] for line in lines if line[:14].strip()}


def test_a_running_server_is_shown_with_its_store_certificates_and_nodes(server: Server) -> None:
    shown = status("--data", str(server.data))
    parts = parts_of(shown.stdout)
    assert (shown.returncode, shown.stderr, parts["To do"], parts["Nodes"]) == (0, "", "nothing", "0 of 0 ready")
    assert parts["Server"].startswith(f"https://127.0.0.1:{server.port}, ready, v1.36.")
    assert "sqlite" in parts["Data"]
    assert parts["Certificates"].startswith("6, first to expire: ")


def test_json_has_every_part(server: Server) -> None:
    document = json.loads(status("--kubeconfig", str(server.data / "kubeconfig"), "-o", "json").stdout)
    assert (document["data"], document["server"]["ready"], document["todo"]) == (None, True, [])


def test_a_stopped_server_and_an_expired_certificate_are_things_to_do(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        pass
    pki = server.data / "pki"
    ca = read_key_pair((pki / "ca.crt").read_bytes(), (pki / "ca.key").read_bytes())
    long_ago = dt.datetime.now(dt.UTC) - dt.timedelta(days=900)
    (pki / "admin.crt").write_bytes(make_client(ca, "a", (), long_ago).certificate_pem())
    shown = status("--data", str(server.data))
    assert shown.returncode == 1
    assert "admin.crt has expired: remove it with its key, and start the server again" in shown.stdout
    assert f"no server runs on {server.data}: start it with `sampan up --data {server.data}`" in shown.stdout


def test_a_directory_that_is_none_is_an_error_in_one_line(tmp_path: Path) -> None:
    shown = status("--data", str(tmp_path))
    expected = f"error: {tmp_path} is no data directory: `sampan up --data {tmp_path}` makes one\n"
    assert (shown.returncode, shown.stdout, shown.stderr) == (1, "", expected)


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"", None], ids=["garbage", "empty", "missing"])
def test_a_directory_without_a_usable_database_is_not_to_be_started(tmp_path: Path, content: bytes | None) -> None:
    data = tmp_path / "data"
    with running(data):
        pass
    for file in data.glob("state.db-*"):
        file.unlink()
    (data / "state.db").unlink()
    if content is not None:
        (data / "state.db").write_bytes(content)
    shown = status("--data", str(data))
    assert shown.returncode == 1
    assert "snapshot restore FILE" in shown.stdout
    assert "start it with" not in shown.stdout


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key"])
@pytest.mark.parametrize("content", [b"garbage", None], ids=["garbage", "missing"])
def test_status_names_a_ca_that_prevents_a_start_in_the_words_of_the_start(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    prepare_credentials(tmp_path, ["127.0.0.1"], dt.datetime.now(dt.UTC))
    (tmp_path / LOCK_FILE).touch()
    file = tmp_path / "pki" / name
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    shown = read_data_status(tmp_path)
    assert shown is not None
    assert "put the files of this cluster back" in shown.damage
    assert content is not None or f"{file} is missing" in shown.damage
    with pytest.raises(ValueError, match=re.escape(shown.damage)):
        prepare_credentials(tmp_path, ["127.0.0.1"], dt.datetime.now(dt.UTC))


def test_the_server_of_the_environment_comes_before_a_directory_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lock").touch()
    kubeconfig = tmp_path / "other.yaml"
    shown = subprocess.run(
        [sys.executable, "-m", "sampan.cli", "status"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=user_environment(KUBECONFIG=str(kubeconfig)),
    )  # fmt: skip
    assert str(kubeconfig) in shown.stderr
    assert "no server runs on" not in shown.stdout
