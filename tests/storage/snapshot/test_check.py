"""A store that is whole has no problems, and each kind of damage is one."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.storage.encoding import encode
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite.check import check
from sampan.wire import protobuf
from tests.storage.snapshot.conftest import PODS

OBJECT = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}


@pytest.fixture
async def whole(path: Path) -> AsyncIterator[Path]:
    """Objects in every form; 6 revisions."""
    store = SQLiteStore(path)
    await store.open()
    revision = await store.create(PODS + "a", encode(OBJECT))
    await store.update(PODS + "a", encode(OBJECT), revision)
    await store.create(PODS + "b", protobuf.encode(OBJECT))
    await store.create(PODS + "c", b"k8s:enc:kms:v2:x:\0\xff")
    await store.delete(PODS + "d", await store.create(PODS + "d", encode(OBJECT)))
    await store.create("other", b"\xff")
    yield path
    await store.close()


def test_a_whole_store_has_no_problems(whole: Path) -> None:
    assert check(whole) == (8, 4, [])


async def test_neither_has_one_that_was_compacted(path: Path) -> None:
    store = SQLiteStore(path)
    await store.open()
    revision = await store.create(PODS + "a", encode(OBJECT))
    newest = await store.update(PODS + "a", encode(OBJECT), revision)
    await store.compact(newest)
    assert check(path) == (3, 1, [])
    await store.close()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE log SET value = '{' WHERE revision = 4", "b: its value at revision 4 cannot be read"),
        ("DELETE FROM log WHERE revision = 4", "b: its row at revision 4 is not in the history"),
        ("DELETE FROM current WHERE key = '/registry/pods/b'", "b: the newest write in the history, at revision 4"),
        ("UPDATE current SET revision = 2 WHERE key = '/registry/pods/a'", "a: the newest write in the history"),
        (
            "UPDATE current SET create_revision = 3 WHERE key = '/registry/pods/a'",
            "a: its row at revision 3 has",
        ),
        ("UPDATE log SET previous = 9 WHERE revision = 3", "a: revision 3 comes before"),
        ("UPDATE state SET swept = 5", "swept to 5, and forgotten only to 0"),
    ],
    ids=["unreadable", "lost", "not current", "old", "creation", "order", "state"],
)
def test_damage_is_a_problem(whole: Path, damage: str, problem: str) -> None:
    with closing(sqlite3.connect(whole)) as connection, connection:
        connection.execute(damage.replace("'{'", "CAST('{' AS BLOB)"))
    assert any(problem in found for found in check(whole)[2])


def test_the_command_names_the_fault(whole: Path) -> None:
    result = CliRunner().invoke(cli, ["storage", "check", str(whole.parent)], standalone_mode=False)
    assert (result.return_value, result.output) == (0, "4 keys at revision 8: all is well\n")
    with closing(sqlite3.connect(whole)) as connection, connection:
        connection.execute("DELETE FROM log WHERE revision = 4")
    result = CliRunner().invoke(cli, ["storage", "check", str(whole.parent)], standalone_mode=False)
    assert result.return_value == 1
    assert "\n4 keys at revision 8: 1 problem\nTo recover: stop the server" in result.output
