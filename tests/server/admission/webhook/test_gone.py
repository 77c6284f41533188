"""A client that goes during calls of webhooks: they are cut and nothing is written. So does kube-apiserver 1.36.3."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest

from sampan.client.transport import HttpRequest
from sampan.http.client.pending_response import PendingResponse
from sampan.server.request import Request, Response
from sampan.testing.servers.in_process import InProcessTransport
from tests.server.admission.webhook.hooks import MAPS, Hooks, config_map, configure, hook
from tests.server.cluster import Api

NAME, SECOND = "hook.example.com", "second.example.com"


class Leaver:
    """A client whose going is known to the server, as over a connection."""

    def __init__(self, api: Api, hooks: Hooks) -> None:
        self._api = api
        self._hooks = hooks
        self._ended = asyncio.Event()
        self.transport = InProcessTransport(self._handler, headers=api.client.headers)

    async def _handler(self, request: Request) -> Response:
        try:
            return await self._api.server.handler(request)
        finally:
            self._ended.set()

    async def create(self, name: str) -> PendingResponse:
        """Create a ConfigMap."""
        headers, body = {"content-type": "application/json"}, orjson.dumps(config_map(name))
        return await self.transport.send(HttpRequest("POST", MAPS, headers, body))

    async def leave(self, name: str) -> None:
        """Begin to create a ConfigMap, go during the call of a webhook, and wait until the server has noticed."""
        calling = asyncio.create_task(self.create(name))
        await self._hooks.waiting.wait()
        calling.cancel()
        await asyncio.wait_for(self._ended.wait(), 20)


@pytest.fixture
async def leaver(api: Api, hooks: Hooks) -> AsyncIterator[Leaver]:
    leaver = Leaver(api, hooks)
    yield leaver
    await leaver.transport.aclose()


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
async def test_the_call_is_cut_and_nothing_is_written(
    api: Api, hooks: Hooks, leaver: Leaver, kind: str, policy: str
) -> None:
    await configure(api, kind, hook(failurePolicy=policy))
    hooks.late[NAME] = asyncio.Event()
    await leaver.leave("left")
    assert hooks.cut == [NAME]
    assert (await api.get(f"{MAPS}/left")).code == 404


async def test_the_next_webhook_is_not_called(api: Api, hooks: Hooks, leaver: Leaver) -> None:
    await configure(api, "Mutating", hook(failurePolicy="Ignore"), hook(SECOND))
    hooks.late[NAME] = asyncio.Event()
    await leaver.leave("left")
    assert hooks.names == [NAME]


async def test_a_connected_client_gets_its_response(api: Api, hooks: Hooks, leaver: Leaver) -> None:
    await configure(api, "Validating", hook())
    response = await leaver.create("stayed")
    assert response.status == 201
    assert (hooks.names, hooks.cut) == ([NAME], [])
