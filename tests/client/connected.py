"""A client of a whole server in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client import Client
from sampan.server.admission.settings import AdmissionSettings
from sampan.testing.servers.in_process import InProcessTransport
from tests.server.cluster import Api, MakeIdentity, no_identity, served
from tests.server.frame import MASTER

AS_MADE = AdmissionSettings(
    disabled=frozenset({"TaintNodesByCondition", "DefaultTolerationSeconds", "StorageObjectInUseProtection"})
)
"""Objects have the taints, tolerations and finalizers that they are made with: of them the tests of loops speak."""


@asynccontextmanager
async def connected(
    admission: AdmissionSettings = AS_MADE, *, identity: MakeIdentity = no_identity
) -> AsyncIterator[tuple[Client, Api]]:
    """A client with all rights, and the server as its own tests see it."""
    async with served(admission=admission, identity=identity) as api:
        transport = InProcessTransport(api.server.handler, headers={**MASTER, "user-agent": "tests/1"})
        async with Client(transport, field_manager="tests") as client:
            yield client, api
