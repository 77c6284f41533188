"""A new server for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.server.cluster import Api, served


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """An empty cluster."""
    async with served() as api:
        yield api
