"""A disk that is really full, or hangs, under a server on SQLite: a small file system in a mount namespace."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import START_TIMEOUT_S, Server, command, running
from tests.robustness.disks import Disk, disks_possible, made_image

PATH = "/api/v1/namespaces/default/configmaps"
_MOUNT = 'mount -o loop "$0" "$1" && exec cat'


def _mounts_are_permitted() -> bool:
    return disks_possible() and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _mounts_are_permitted(), reason="mount namespaces are not permitted here")


class SmallDisk(Disk):
    """Mounted at `mounted` for those only who are started with `prefix`; all others see it at `directory`."""

    def __init__(self, mounted: Path, holder: int) -> None:
        super().__init__(Path(f"/proc/{holder}/root{mounted}"))
        self.mounted = mounted
        self.prefix = ("nsenter", f"--target={holder}", "--mount")

    @contextmanager
    def server(self) -> Iterator[Server]:
        with running(self.mounted, prefix=self.prefix) as server:
            yield replace(server, data=self.directory)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    directory = tmp_path / "disk"
    directory.mkdir()
    image = made_image(tmp_path / "image", 48 << 20)
    line = ["unshare", "--mount", "sh", "-c", _MOUNT, str(image), str(directory)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"mounted\n")
        assert holder.stdout.readline() == b"mounted\n"
        disk = SmallDisk(directory, holder.pid)
        yield disk
        disk.thaw()
        holder.stdin.close()


def created(server: Server, name: str, query: str = "") -> tuple[int, str | None]:
    """Create a ConfigMap of 20 kB: the answer's code, and when to try again."""
    body: Any = {"metadata": {"name": name}, "data": {"v": "x" * 20_000}}
    with closing(server.connect()) as connection:
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request("POST", PATH + query, json.dumps(body), headers)
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
    line = [*disk.prefix, *command(disk.mounted)]
    failed = subprocess.run(line, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    assert (failed.returncode, failed.stderr) == (
        1,
        f"sampan: error: cannot use {disk.mounted}: No space left on device\n",
    )
    disk.free()
    with disk.server() as server:
        assert names(server) == {"before"}


def test_while_the_disk_hangs_writes_are_answered_504_and_reads_go_on(disk: SmallDisk) -> None:
    with disk.server() as server:
        assert created(server, "before")[0] == 201
        disk.freeze()
        assert created(server, "meanwhile", "?timeout=2s") == (504, None)
        assert names(server) == {"before"}
        disk.thaw()
        assert created(server, "after")[0] == 201
        assert names(server) == {"before", "meanwhile", "after"}


def test_while_the_disk_hangs_a_server_that_writes_is_alive_and_not_ready(disk: SmallDisk) -> None:
    with disk.server() as server:
        assert server.get("/readyz") == (200, b"ok")
        disk.freeze()
        try:
            assert created(server, "meanwhile", "?timeout=1s")[0] == 504
            assert [server.get(path)[0] for path in ("/readyz", "/livez", "/healthz")] == [500, 200, 200]
        finally:
            disk.thaw()
        assert created(server, "after")[0] == 201
        assert server.get("/readyz") == (200, b"ok")
