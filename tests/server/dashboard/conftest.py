"""Servers with a dashboard."""

from collections.abc import AsyncIterator

import pytest

from sampan.server.dashboard.settings import DashboardSettings
from tests.server.cluster import Api, served
from tests.server.dashboard.browser import Browser


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """Start a server with a dashboard. The client is its administrator."""
    async with served(dashboard=DashboardSettings()) as made:
        yield made


@pytest.fixture
def browser(api: Api) -> Browser:
    """Return a browser without a session."""
    return Browser(api)
