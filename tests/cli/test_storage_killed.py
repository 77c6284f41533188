"""Interrupted `sampan storage copy`: its files are not used as a store, and the next copy starts from the beginning."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sampan.app.storage.store_location import parse_store
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.snapshot import SnapshotError
from sampan.storage.snapshot.etcd_target import EtcdCopyTarget
from sampan.storage.store import StoreFull, StoreIncomplete, StoreUnavailable
from tests.cli.server import NO_LOOPS, failing, running
from tests.cli.test_storage import COUNT, contents, etcd, rows, sampan, source

__all__ = ["etcd", "source"]

KILLED = """
import os, signal, sys
from sampan.cli.main import main
from sampan.app.storage import copy
from sampan.storage.snapshot import etcd_target
from sampan.storage.snapshot.etcd_target import EtcdCopyTarget
from sampan.storage.sqlite import load, restore

etcd_target.TTL_S, etcd_target.RENEW_S = 1, 0.3  # tests need not wait for the lease of a killed copy

SIGNAL = {"killed": signal.SIGKILL, "interrupted": signal.SIGTERM}[sys.argv[1]]
WHERE = {
    "marked": (EtcdCopyTarget, "create", 0),
    "first": (EtcdCopyTarget, "create", 1),
    "half": (EtcdCopyTarget, "create", 75),
    "compared": (EtcdCopyTarget, "finish", 0),
    "saved": (copy, "verify", 0),
    "loaded": (load.Loader, "finish", 0),
    "moved": (restore, "_move", 0),
    "there": (copy, "digest_of", 0),
}
thing, name, left = WHERE[sys.argv[2]]
whole = getattr(thing, name)

def counting(*arguments, **options):
    global left
    if not left:
        os.kill(os.getpid(), SIGNAL)
    left -= 1
    return whole(*arguments, **options)

setattr(thing, name, counting)
main(sys.argv[3:])
"""
IN_ETCD = ["marked", "first", "half", "compared"]


def ended(how: str, where: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, which ends when it comes to a point."""
    line = [sys.executable, "-c", KILLED, how, where, *map(str, arguments)]
    return subprocess.run(line, check=False, capture_output=True, text=True)


def killed_copy(where: str, source: str, target: str) -> None:
    done = ended("killed", where, "storage", "copy", "--from", source, "--to", target)
    assert done.returncode == -signal.SIGKILL, done.stderr


def copy(source: str, target: str, *more: str, code: int = 0) -> str:
    return sampan("storage", "copy", "--from", source, "--to", target, *more, code=code)


@pytest.mark.parametrize("where", IN_ETCD)
def test_a_killed_copy_is_gone_on_with_by_no_client_and_begun_again(where: str, source: str, etcd: str) -> None:
    killed_copy(where, source, etcd)
    assert "holds a part of a copy (from sqlite:" in copy(source, etcd, code=1)
    assert f"copied {COUNT + 1} keys" in copy(source, etcd, "--clear-partial")
    assert contents(rows(etcd)) == contents(rows(source))


def test_a_partial_copy_is_neither_served_nor_saved_nor_copied(source: str, etcd: str, tmp_path: Path) -> None:
    killed_copy("half", source, etcd)
    urls = etcd.removeprefix("etcd:")
    for more in ((), ("--read-only",)):
        code, out, error = failing(tmp_path / "data", "--storage=etcd", f"--etcd-servers={urls}", *NO_LOOPS, *more)
        assert (code, out) == (1, "")
        assert "holds a part of a copy" in error
        assert "--clear-partial" in error
    assert "holds a part of a copy" in sampan("snapshot", "save", tmp_path / "s", "--from", etcd, code=1)
    assert not (tmp_path / "s").exists()
    assert "holds a part of a copy" in copy(etcd, f"sqlite:{tmp_path / 'other'}", code=1)


def test_a_copy_that_is_interrupted_reports_what_is_left_and_what_to_do(source: str, etcd: str) -> None:
    done = ended("interrupted", "half", "storage", "copy", "--from", source, "--to", etcd)
    assert done.returncode == 1
    assert "the target contains a part of it" in done.stderr
    assert "--clear-partial" in done.stderr
    copy(source, etcd, "--clear-partial")
    assert contents(rows(etcd)) == contents(rows(source))


def test_a_whole_store_is_not_cleared(source: str, etcd: str) -> None:
    copy(source, etcd)
    assert "not empty" in copy(source, etcd, "--clear-partial", code=1)
    assert contents(rows(etcd)) == contents(rows(source))


async def test_one_of_two_copies_at_once_is_refused(etcd: str) -> None:
    one, other = (parse_store(etcd).engine.copy_target() for _ in range(2))
    await one.open()
    await one.begin("from one", clear=False)
    await other.open()
    with pytest.raises(StoreIncomplete, match="from one"):
        await other.begin("from another", clear=False)
    await other.close()
    await one.finish()
    await one.close()


async def test_a_part_is_not_cleared_while_its_copy_runs(etcd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.snapshot.etcd_target.TTL_S", 1)
    monkeypatch.setattr("sampan.storage.snapshot.etcd_target.RENEW_S", 0.2)
    one, other = (parse_store(etcd).engine.copy_target() for _ in range(2))
    await one.open()
    await one.begin("from one", clear=False)
    await other.open()
    with pytest.raises(SnapshotError, match="another copy writes"):
        await other.begin("from another", clear=True)
    await one.finish()
    await one.close()
    await other.close()


async def test_a_copy_that_was_taken_over_writes_and_finishes_no_more(etcd: str) -> None:
    settings = EtcdSettings((etcd.removeprefix("etcd:"),))
    one, other = EtcdCopyTarget(settings), EtcdCopyTarget(settings)
    await one.open()
    await one.begin("from one", clear=False)
    one._tasks.cancel()
    expired = messages.DeleteRangeRequest(key=one._keys.copy_running)
    await one._client.call(messages.DELETE_RANGE, expired)
    await other.open()
    await other.begin("from another", clear=True)
    with pytest.raises(StoreUnavailable, match="nothing was written"):
        await one.create("/registry/pods/default/a", b"1")
    with pytest.raises(StoreIncomplete, match="from another"):
        await one.finish()
    assert await other.incomplete_copy() == "from another"
    await one.close()
    await other.close()


def test_an_etcd_on_which_a_server_runs_is_refused(source: str, etcd: str, tmp_path: Path) -> None:
    urls = etcd.removeprefix("etcd:")
    with running(tmp_path / "data", "--storage=etcd", f"--etcd-servers={urls}"):
        assert "not empty" in copy(source, etcd, code=1)
    assert contents(rows(etcd))


@pytest.mark.parametrize("where", ["saved", "loaded", "moved", "there"])
def test_a_killed_copy_to_a_directory_is_neither_served_nor_saved(where: str, source: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    killed_copy(where, source, f"sqlite:{data}")
    assert "was interrupted" in failing(data, *NO_LOOPS)[2]
    assert "was interrupted" in sampan("snapshot", "save", tmp_path / "s", "--data", data, code=1)
    assert "was interrupted" in copy(f"sqlite:{data}", f"sqlite:{tmp_path / 'other'}", code=1)
    copy(source, f"sqlite:{data}")
    assert rows(f"sqlite:{data}") == rows(source)


@pytest.mark.parametrize("where", ["saved", "loaded", "there"])
def test_a_copy_to_a_directory_that_is_interrupted_leaves_nothing(where: str, source: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    done = ended("interrupted", where, "storage", "copy", "--from", source, "--to", f"sqlite:{data}")
    assert (done.returncode, done.stdout) == (1, "")
    assert [path.name for path in data.iterdir()] == ["lock"]


def test_a_copy_that_is_not_what_was_copied_leaves_no_store(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampan.app.storage.copy._compare", _differ)
    assert "differs" in copy(source, f"sqlite:{tmp_path / 'data'}", code=1)
    assert not (tmp_path / "data" / "state.db").exists()


def _differ(*_: object) -> None:
    raise SnapshotError("differs")


def test_an_etcd_without_room_is_reported_with_what_helps(
    source: str, etcd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StoreFull("etcd: database space exceeded")

    monkeypatch.setattr("sampan.storage.snapshot.etcd_target.EtcdCopyTarget.create", full)
    output = copy(source, etcd, code=1)
    assert "the store has no room: etcd: database space exceeded (etcd: --quota-backend-bytes" in output
    assert "--clear-partial" in output
