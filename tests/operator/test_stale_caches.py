"""Caches that lag behind: what a reconciler has made once it does not make again."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator

from sampan.client.client import Client
from sampan.client.options import ListOptions
from sampan.client.transport import Headers, HttpRequest, HttpResponse, Transport
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.request import Request, Result
from sampan.resource import Object
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client

LAG_S = 0.05
COUNT = 12


class LateResponse:
    """An answer whose chunks come late."""

    def __init__(self, inner: HttpResponse, dice: random.Random) -> None:
        self._inner = inner
        self._dice = dice

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Headers:
        return self._inner.headers

    async def read(self) -> bytes:
        return await self._inner.read()

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner.chunks():
            await asyncio.sleep(self._dice.uniform(0, LAG_S))
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class LateWatches:
    """A transport whose streams lag behind all other answers."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._dice = random.Random(1)

    async def send(self, request: HttpRequest) -> HttpResponse:
        response = await self._inner.send(request)
        return LateResponse(response, self._dice) if request.stream else response

    async def aclose(self) -> None:
        """The inner one is closed by its owner."""


class OneSecretEach:
    """Makes a secret with a name of the server's choice for each config map, unless there is one."""

    def __init__(self, manager: Manager, reconciled: asyncio.Queue[str]) -> None:
        self._maps = manager.client.resource(CONFIG_MAPS)
        self._secrets = manager.client.resource(SECRETS, namespace="default")
        self._reconciled = reconciled

    async def reconcile(self, request: Request) -> Result | None:
        obj = await self._maps.find(request)
        if obj is None or request.namespace != "default":
            return None
        mine = await self._secrets.list(ListOptions(label_selector=f"of={request.name}"))
        if not mine.items:
            metadata = {"generateName": "made-", "namespace": "default", "labels": {"of": request.name}}
            secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
            set_controller_reference(obj, secret)
            await self._secrets.create(secret)
        self._reconciled.put_nowait(request.name)
        # The next read comes before the watch event of the new object.
        return Result(requeue_after_s=0.001)


async def test_an_object_is_not_created_twice_with_a_late_watch() -> None:
    async with cluster_client() as client:
        late = Client(LateWatches(client.rest.transport))
        manager, reconciled = Manager(late), asyncio.Queue[str]()
        builder = Builder(manager).for_(CONFIG_MAPS).owns(SECRETS).with_options(max_concurrent_reconciles=4)
        builder.complete(OneSecretEach(manager, reconciled))
        running = asyncio.create_task(manager.run())
        await manager.elected.wait()
        maps = client.resource(CONFIG_MAPS)
        for number in range(COUNT):
            await maps.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}})
        looks: Counter[str] = Counter()
        while len(looks) < COUNT or min(looks.values()) < 5:
            looks[await reconciled.get()] += 1
        manager.stop()
        await running
        secrets = await client.resource(SECRETS, namespace="default").list()
        made = Counter(secret["metadata"]["labels"]["of"] for secret in secrets)
        assert set(made.values()) == {1}
        assert len(made) >= COUNT


async def test_a_created_and_deleted_object_is_gone_with_a_late_watch() -> None:
    async with cluster_client() as client:
        late = Client(LateWatches(client.rest.transport))
        manager = Manager(late)
        manager.informer_for(CONFIG_MAPS)
        running = asyncio.create_task(manager.run())
        await manager.elected.wait()
        maps = manager.client.resource(CONFIG_MAPS, namespace="default")
        for number in range(COUNT):
            await maps.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}})
            await maps.delete(f"m{number}")
            assert await maps.find(Request("default", f"m{number}")) is None
            assert f"m{number}" not in [obj["metadata"]["name"] for obj in await maps.list()]
        manager.stop()
        await running
