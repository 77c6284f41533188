"""A disk that is really full, or hangs, under a server on SQLite: a small file system in a mount namespace."""

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import START_TIMEOUT_S, Server, command, running
from tests.robustness.disks import Disk, disks_possible, made_image

COMPACTED_WITHIN_S = 60.0
"""The space of deleted objects returns with the next compaction."""
PATH = "/api/v1/namespaces/default/configmaps"
_MOUNT = 'mount -o loop "$0" "$1" && exec cat'


def _mounts_are_permitted() -> bool:
    return disks_possible() and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _mounts_are_permitted(), reason="mount namespaces are not permitted here")


class SmallDisk(Disk):
    """Disk that is mounted at `mounted` for processes with `prefix`. Other processes find its files in `directory`."""

    def __init__(self, mounted: Path, holder: int) -> None:
        super().__init__(Path(f"/proc/{holder}/root{mounted}"))
        self.mounted = mounted
        self.prefix = ("nsenter", f"--target={holder}", "--mount")

    @contextmanager
    def server(self, *, loops: bool = False) -> Iterator[Server]:
        with running(self.mounted, prefix=self.prefix, loops=loops) as server:
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


def request(server: Server, method: str, path: str, body: object = None) -> tuple[int, str | None, dict[str, Any]]:
    """Code, Retry-After and body of an answer."""
    with closing(server.connect()) as connection:
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.headers["Retry-After"], json.loads(response.read())


def created(server: Server, name: str, query: str = "", *, finalizers: Sequence[str] = ()) -> tuple[int, str | None]:
    """Create a ConfigMap of 20 kB: the answer's code, and when to try again."""
    body = {"metadata": {"name": name, "finalizers": finalizers}, "data": {"v": "x" * 20_000}}
    return request(server, "POST", PATH + query, body)[:2]


def names(server: Server) -> set[str]:
    return {each["metadata"]["name"] for each in server.status(PATH, server.token)["items"]}


def refusal(server: Server) -> str:
    """Create ConfigMaps until one is refused; gives its message."""
    for number in itertools.count():
        code, retry_after, status = request(server, "POST", PATH, {"metadata": {"name": f"more{number}"}})
        if code != 201:
            assert (code, retry_after, status.get("reason")) == (500, None, None)
            return str(status["message"])
    raise AssertionError


def test_a_full_disk_refuses_writes_loses_none_and_is_well_when_there_is_space(disk: SmallDisk) -> None:
    with disk.server() as server:
        assert created(server, "before")[0] == 201
        disk.fill()
        responses = {f"full{number}": created(server, f"full{number}") for number in range(50)}
        assert responses["full49"] == (500, None)
        acknowledged = {"before", *(name for name, reply in responses.items() if reply[0] == 201)}
        assert names(server) == acknowledged
        disk.free()
        assert created(server, "after")[0] == 201
        server.process.kill()
    with disk.server() as server:
        assert names(server) == {*acknowledged, "after"}


def test_the_error_of_a_full_disk_names_the_file_and_what_to_do_and_so_does_readyz(disk: SmallDisk) -> None:
    with disk.server() as server:
        disk.fill()
        text = f"{disk.mounted}/state.db: No space left on device: free at least 5 MiB on its disk, or delete objects"
        assert refusal(server).startswith(text)
        code, lines = server.get("/readyz")
        assert (code, b"[-]storage-space failed" in lines, b"[+]storage-integrity ok" in lines) == (500, True, True)
        code, reason = server.get("/readyz/storage-space", server.token)
        assert (code, text in reason.decode()) == (500, True)
        assert server.get("/livez")[0] == 200
        disk.free()
        assert server.get("/readyz") == (200, b"ok")
        assert created(server, "after")[0] == 201


def test_objects_can_be_deleted_on_a_full_disk_also_those_with_finalizers(disk: SmallDisk) -> None:
    with disk.server() as server:
        objects = [f"plain{number}" for number in range(100)]
        for name in objects:
            assert created(server, name)[0] == 201
        assert created(server, "held", finalizers=["example.com/hold"])[0] == 201
        disk.fill()
        refusal(server)
        assert [request(server, "DELETE", f"{PATH}/{name}")[0] for name in objects] == [200] * len(objects)
        assert request(server, "DELETE", f"{PATH}/held")[0] == 200
        _, _, held = request(server, "GET", f"{PATH}/held")
        held["metadata"]["finalizers"] = []
        assert request(server, "PUT", f"{PATH}/held", held)[0] == 200
        assert not names(server) & {*objects, "held"}


def test_deletions_on_a_full_disk_make_space_for_writes(disk: SmallDisk) -> None:
    with disk.server() as server:
        objects = [f"large{number}" for number in range(400)]
        for name in objects:
            assert created(server, name)[0] == 201
        disk.fill()
        refusal(server)
        for name in objects:
            assert request(server, "DELETE", f"{PATH}/{name}")[0] == 200
        deadline = time.monotonic() + COMPACTED_WITHIN_S
        while created(server, "after")[0] != 201:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert server.get("/readyz") == (200, b"ok")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_a_restart_on_a_full_disk_serves_reads_and_deletes(disk: SmallDisk, number: signal.Signals) -> None:
    with disk.server() as server:
        assert created(server, "before")[0] == 201
        disk.fill()
        refusal(server)
        server.process.send_signal(number)
        server.process.wait(START_TIMEOUT_S)
    disk.fill()
    with disk.server() as server:
        assert "before" in names(server)
        refusal(server)
        assert request(server, "DELETE", f"{PATH}/before")[0] == 200
        disk.free()
        assert created(server, "after")[0] == 201


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_large_objects_can_be_deleted_after_each_start_while_the_disk_is_full(
    disk: SmallDisk, number: signal.Signals
) -> None:
    """Nothing but the store's own files is left to it: whatever it returns to the disk is gone."""
    remaining = [f"large{number}" for number in range(24)]
    with disk.server() as server:
        for name in remaining:
            body = {"metadata": {"name": name, "finalizers": ["example.com/hold"]}, "data": {"v": "x" * 700_000}}
            assert request(server, "POST", PATH, body)[0] == 201
        disk.fill()
        refusal(server)
        for _ in range(3):
            remove_held(disk, server, [remaining.pop() for _ in range(3)])
        stop(server, number)
    for _ in range(3):
        disk.fill()
        checked = [*disk.prefix, sys.executable, "-m", "sampan.cli", "storage", "check", str(disk.mounted)]
        done = subprocess.run(checked, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
        assert (done.returncode, done.stdout[-12:]) == (0, "all is well\n"), done.stderr
        disk.fill()
        with disk.server() as server:
            disk.fill()
            assert set(remaining) <= names(server)
            remove_held(disk, server, [remaining.pop() for _ in range(3)])
            stop(server, number)


def remove_held(disk: SmallDisk, server: Server, objects: Sequence[str]) -> None:
    """Delete objects with a finalizer. The disk is filled before each request."""
    for name in objects:
        disk.fill()
        assert request(server, "DELETE", f"{PATH}/{name}")[0] == 200
        _, _, held = request(server, "GET", f"{PATH}/{name}")
        held["metadata"]["finalizers"] = []
        disk.fill()
        assert request(server, "PUT", f"{PATH}/{name}", held)[0] == 200


def stop(server: Server, number: signal.Signals) -> None:
    server.process.send_signal(number)
    server.process.wait(START_TIMEOUT_S)


def test_a_namespace_with_pods_of_controllers_disappears_on_a_full_disk(disk: SmallDisk) -> None:
    container = {"name": "main", "image": "example.com/app"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 10, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    pods = "/api/v1/namespaces/one/pods"
    with disk.server(loops=True) as server:
        request(server, "POST", "/api/v1/namespaces", {"metadata": {"name": "one"}})
        body = {"metadata": {"name": "web"}, "spec": spec}
        assert request(server, "POST", "/apis/apps/v1/namespaces/one/deployments", body)[0] == 201
        wait_until(lambda: len(server.status(pods, server.token)["items"]) == 10)
        disk.fill()
        refusal(server)
        assert request(server, "DELETE", "/api/v1/namespaces/one")[0] == 200
        wait_until(lambda: request(server, "GET", "/api/v1/namespaces/one")[0] == 404)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + COMPACTED_WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_first_start_on_a_full_disk_names_the_path_and_succeeds_when_there_is_space(disk: SmallDisk) -> None:
    disk.fill()
    line = [*disk.prefix, *command(disk.mounted / "data")]
    failed = subprocess.run(line, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"sampan: error: cannot use the data directory {disk.mounted}/data")
    assert "No space left on device: free space there, or choose another directory with --data" in failed.stderr
    disk.free()
    with disk.server() as server:
        assert created(server, "after")[0] == 201


def test_while_the_disk_hangs_writes_get_504_and_reads_continue(disk: SmallDisk) -> None:
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
