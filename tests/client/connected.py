"""A client of a whole server in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client import Client
from sampan.testing.in_process import InProcessTransport
from tests.server.cluster import Api, served
from tests.server.frame import MASTER


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Client, Api]]:
    """A client with all rights, and the server as its own tests see it."""
    async with served() as api:
        transport = InProcessTransport(api.server.handler, headers={**MASTER, "user-agent": "tests/1"})
        async with Client(transport, field_manager="tests") as client:
            yield client, api
