"""A server on each storage engine."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from tests.server.cluster import Api, served
from tests.storage.conftest import etcd, etcd_pool
from tests.storage.etcd.server import Member

__all__ = ["etcd", "etcd_pool"]


@pytest.fixture(params=["memory", "sqlite", pytest.param("etcd", marks=pytest.mark.process)])
def engine(request: pytest.FixtureRequest) -> str:
    """Return the name of a storage engine."""
    return str(request.param)


@pytest.fixture
def store(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store | None]:
    """Return a store that is not open; None: the default one in memory."""
    if engine == "sqlite":
        yield SQLiteStore(tmp_path / "store.db")
    elif engine == "etcd":
        member: Member = request.getfixturevalue("etcd")
        yield EtcdStore(EtcdSettings((member.url,)))
    else:
        yield None


@pytest.fixture
async def api(store: Store | None) -> AsyncIterator[Api]:
    """Start a server, and return its administrator's client."""
    async with served(store) as api:
        yield api
