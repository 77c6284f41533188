"""B8: the Secrets of a store that the cache does not have are deleted (cloud-on-k8s #5249)."""

from collections.abc import Iterable
from typing import Any

from sampan.client import Client, DeleteOptions, NotFound
from sampan.informer.ref import Ref
from sampan.operator import Result
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, SECRETS, STORES, exists, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a live read before the store counts as deleted."""

    async def delete_secrets(client: Client, name: str) -> None:
        if repaired and await _is_live(client, name):
            return
        for each in (await client.resource(SECRETS).list()).items:
            if each["metadata"].get("labels", {}).get("store") == name:
                options = DeleteOptions(uid=each["metadata"]["uid"])
                await client.resource(SECRETS).delete(each["metadata"]["name"], options)

    async def reconcile(client: Client, found: Object | None, request: Request) -> None:
        if found is None:
            await delete_secrets(client, request.name)
        elif not await exists(client, SECRETS, "certs"):
            await client.resource(SECRETS).create(secret("certs", labels={"store": request.name}))

    def set_up(manager: Manager) -> None:
        async def run(request: Request) -> Result:
            found = await manager.client.resource(STORES).find(request)
            await reconcile(manager.client, found, request)  # type: ignore[arg-type]
            return Result()

        Builder(manager).for_(STORES).watches(SECRETS, _store_of).complete(run)

    @scenario(set_up, crds=[CRD])
    async def recreate(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.settled()
        await cluster.delete("stores/s")
        await cluster.settled()
        await cluster.apply(store())

    return recreate


async def _is_live(client: Client, name: str) -> bool:
    try:
        await client.direct.resource(STORES).get(name)  # type: ignore[attr-defined]
    except NotFound:
        return False
    return True


def _store_of(found: Ref[Any]) -> Iterable[Request]:
    name = found.labels.get("store")
    return [Request("default", name)] if name else []
