"""A server."""

from collections.abc import AsyncIterator

import pytest

from tests.server.cluster import Api, served


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as found:
        yield found
