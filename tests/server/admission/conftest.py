"""A new server for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.server.cluster import Api, served


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """An empty cluster with the plug-ins that are on by default."""
    async with served() as api:
        yield api
