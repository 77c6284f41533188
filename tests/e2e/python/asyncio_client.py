"""The asynchronous clients with one interface: `kubernetes_asyncio`, and `kubernetes.aio` of the official client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import kubernetes.aio
import kubernetes_asyncio
import pytest

from tests.e2e.python.relay import Relay

Library = Any
"""The module `kubernetes_asyncio` or `kubernetes.aio`: `client`, `config`, `watch`, `dynamic` …"""

LIBRARIES = [
    pytest.param(kubernetes_asyncio, id="kubernetes_asyncio"),
    pytest.param(kubernetes.aio, id="kubernetes.aio"),
]


@asynccontextmanager
async def connected(library: Library, kubeconfig: str, relay: Relay | None = None) -> AsyncIterator[Any]:
    """An ApiClient that a kubeconfig leads, until the end of the block.

    A watch that is given up ends its connection later than its client: with a relay the block waits for that.
    """
    connection = await library.config.new_client_from_config(config_file=kubeconfig)
    async with connection:
        yield connection
    if relay is not None:
        await asyncio.to_thread(relay.wait_idle)
