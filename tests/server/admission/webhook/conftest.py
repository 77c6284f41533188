"""A server and its webhooks."""

from collections.abc import AsyncIterator

import pytest

from tests.server.admission.webhook.hooks import Hooks
from tests.server.cluster import Api, served


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as found:
        yield found


@pytest.fixture
def hooks(api: Api) -> Hooks:
    return Hooks(api)
