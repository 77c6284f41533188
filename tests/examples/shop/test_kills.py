"""The operator of the example as a process, with a real API server. It is killed in the middle of its work."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sampan.client import Client, MergePatch, condition_is, connect, deleted, exists, json_path, wait_for
from sampan.resource import ObjectMeta
from sampan.resource.crd import crd_of
from shops.shop.objects import CONFIG_MAPS, DEPLOYMENTS, INGRESSES, KINDS, SERVICES, SETTINGS_HASH, desired
from shops.shop.v1 import Shop, ShopSpec
from tests.cli.server import Server
from tests.cli.server import running as serving
from tests.examples.operator_process import operating

WAIT_S = 120.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run an API server with the garbage collector, and without nodes."""
    options = ("--controllers=garbage-collector-controller", "--no-scheduler", "--nodes=0")
    with serving(tmp_path_factory.mktemp("shop") / "data", *options, loops=True) as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """Return a client of the server, after the CRD is established."""
    async with connect(server.data / "kubeconfig", field_manager="tests") as found:
        definitions = await found.resource_for("customresourcedefinitions")
        await definitions.apply(crd_of(Shop))
        await wait_for(definitions, crd_of(Shop)["metadata"]["name"], condition_is("Established"), timeout_s=60)
        yield found


def _hash_of(deployment: object) -> str:
    if not isinstance(deployment, dict):
        return ""
    found: str = deployment["spec"]["template"]["metadata"]["annotations"][SETTINGS_HASH]
    return found


async def test_a_kill_after_each_object_leads_to_complete_shops_and_later_to_nothing(
    server: Server, client: Client, tmp_path: Path
) -> None:
    shops = client.resource(Shop)
    settings = {"KUBECONFIG": str(server.data / "kubeconfig")}
    killed_after = {"one": CONFIG_MAPS, "two": SERVICES, "three": INGRESSES, "four": DEPLOYMENTS}
    with operating("10-deploy-on-demand", "shops", settings, tmp_path / "log") as operator:
        for name, kind in killed_after.items():
            spec = ShopSpec(image="shop:1", host="shop.example.com", settings={"GREETING": "hello"})
            await shops.create(Shop(metadata=ObjectMeta(name=name), spec=spec))
            await wait_for(client.resource(kind), name, exists(), timeout_s=WAIT_S)
            operator.kill()
            await shops.patch(name, MergePatch({"spec": {"settings": {"GREETING": "good evening"}}}))
            operator.start()
        for name in killed_after:
            hash = _hash_of(desired(await shops.get(name))[DEPLOYMENTS])
            for kind in KINDS:
                await wait_for(client.resource(kind), name, exists(), timeout_s=WAIT_S)
            path = ".spec.template.metadata.annotations." + SETTINGS_HASH.replace(".", "\\.")
            await wait_for(client.resource(DEPLOYMENTS), name, json_path(path, hash), timeout_s=WAIT_S)
            assert (await client.resource(CONFIG_MAPS).get(name))["data"] == {"GREETING": "good evening"}
        operator.kill()  # The garbage collector needs no operator.
        for name in killed_after:
            await shops.delete(name)
        for name in killed_after:
            for kind in KINDS:
                await wait_for(client.resource(kind), name, deleted(), timeout_s=WAIT_S)
