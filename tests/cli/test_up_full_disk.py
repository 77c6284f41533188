"""A disk that is really full, under a server on SQLite: a small file system in memory, in a mount namespace."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import START_TIMEOUT_S, Server, command, running

PATH = "/api/v1/namespaces/default/configmaps"
_MOUNT = 'mount -t tmpfs -o size=24m tmpfs "$0" && exec cat'


def _mounts_are_permitted() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _mounts_are_permitted(), reason="mount namespaces are not permitted here")


@dataclass(frozen=True)
class SmallDisk:
    """Mounted at `directory` for those only who are started with `prefix`; all others see it at `view`."""

    directory: Path
    view: Path
    prefix: tuple[str, ...]

    def fill(self) -> None:
        with (self.view / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(4096))

    def free(self) -> None:
        (self.view / "ballast").unlink()

    @contextmanager
    def server(self) -> Iterator[Server]:
        with running(self.directory, prefix=self.prefix) as server:
            yield replace(server, data=self.view)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    directory = tmp_path / "disk"
    directory.mkdir()
    line = ["unshare", "--mount", "sh", "-c", _MOUNT, str(directory)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"mounted\n")
        assert holder.stdout.readline() == b"mounted\n"
        view = Path(f"/proc/{holder.pid}/root{directory}")
        yield SmallDisk(directory, view, ("nsenter", f"--target={holder.pid}", "--mount"))
        holder.stdin.close()


def created(server: Server, name: str) -> tuple[int, str | None]:
    """Create a ConfigMap of 20 kB: the answer's code, and when to try again."""
    body: Any = {"metadata": {"name": name}, "data": {"v": "x" * 20_000}}
    with closing(server.connect()) as connection:
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request("POST", PATH, json.dumps(body), headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["Retry-After"]


def names(server: Server) -> set[str]:
    return {each["metadata"]["name"] for each in server.status(PATH, server.token)["items"]}


def test_a_full_disk_refuses_writes_loses_none_and_is_well_when_there_is_space(disk: SmallDisk) -> None:
    with disk.server() as server:
        assert created(server, "before")[0] == 201
        disk.fill()
        answers = {f"full{number}": created(server, f"full{number}") for number in range(50)}
        assert answers["full49"] == (507, "5")
        acknowledged = {"before", *(name for name, answer in answers.items() if answer[0] == 201)}
        assert names(server) == acknowledged
        disk.free()
        assert created(server, "after")[0] == 201
        server.process.kill()
    with disk.server() as server:
        assert names(server) == {*acknowledged, "after"}


def test_a_start_on_a_full_disk_says_so_and_loses_nothing(disk: SmallDisk) -> None:
    with disk.server() as server:
        assert created(server, "before")[0] == 201
        disk.fill()
        server.process.kill()
    line = [*disk.prefix, *command(disk.directory)]
    failed = subprocess.run(line, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    assert (failed.returncode, failed.stderr) == (
        1,
        f"sampan: error: cannot use {disk.directory}: No space left on device\n",
    )
    disk.free()
    with disk.server() as server:
        assert names(server) == {"before"}
