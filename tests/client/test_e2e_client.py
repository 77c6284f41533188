"""The client against a server in a separate process: TLS, kubeconfig, every verb, a custom kind."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest

from sampan.client import (
    BlockingClient,
    Client,
    Conflict,
    DeleteOptions,
    JsonPatch,
    ListOptions,
    MergePatch,
    NotFound,
    OperationResult,
    StrategicMergePatch,
    condition_is,
    connect,
    create_or_patch,
    create_or_update,
    deleted,
    exists,
    json_path,
    retry_on_conflict,
    wait_for,
)
from sampan.resource import Object, ObjectMeta
from tests.cli.server import Server, running
from tests.client.kinds import Network, NetworkSpec, NetworkStatus, define


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("client") / "data") as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """A client in a new namespace."""
    async with connect(server.data / "kubeconfig", field_manager="e2e") as connected:
        namespaces = await connected.resource_for("namespaces")
        made = await namespaces.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "client-"}}
        )
        yield connected.with_defaults(namespace=made["metadata"]["name"])


@pytest.fixture
async def defined(client: Client) -> Client:
    """A client in a new namespace, of a server on which networks are defined."""
    await define(client)
    return client


def config_map(name: str = "a", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def network(name: str = "net", cidr: str = "10.0.0.0/24") -> Network:
    return Network(metadata=ObjectMeta(name=name), spec=NetworkSpec(cidr))


async def test_the_verbs_of_a_built_in_resource(client: Client) -> None:
    config_maps = await client.resource_for("cm")
    made = await config_maps.create(config_map(x="1"))
    made["data"]["x"] = "2"
    await config_maps.update(made)
    await config_maps.patch("a", JsonPatch([{"op": "add", "path": "/data/json", "value": "1"}]))
    await config_maps.patch("a", MergePatch({"data": {"merge": "1"}}))
    await config_maps.patch("a", StrategicMergePatch({"data": {"strategic": "1"}}))
    await config_maps.apply(config_map(applied="1"), field_manager="applier")
    read = await config_maps.get("a")
    assert read["data"] == {"x": "2", "json": "1", "merge": "1", "strategic": "1", "applied": "1"}
    with pytest.raises(Conflict):
        await config_maps.update(made)
    assert await config_maps.delete("a", DeleteOptions(uid=read["metadata"]["uid"])) is None
    with pytest.raises(NotFound):
        await config_maps.get("a")


async def test_lists_pages_and_collections(client: Client) -> None:
    config_maps = await client.resource_for("configmaps")
    names = [f"m{number:02}" for number in range(25)]
    await asyncio.gather(*(config_maps.create(config_map(name)) for name in names))
    assert [each["metadata"]["name"] async for each in config_maps.items(page_size=10)] == names
    assert len(await config_maps.list(ListOptions(limit=10))) == 10
    assert [each.metadata.name for each in await config_maps.metadata_only().list_all(page_size=7)] == names
    await config_maps.delete_collection()
    assert len(await config_maps.list()) == 0


async def test_a_large_list_arrives_whole(client: Client) -> None:
    config_maps = await client.resource_for("configmaps")
    await asyncio.gather(*(config_maps.create(config_map(f"big-{number}", x="x" * 100_000)) for number in range(30)))
    assert [len(each["data"]["x"]) for each in await config_maps.list()] == [100_000] * 30


async def test_a_declared_kind_from_its_creation_to_its_deletion(defined: Client) -> None:
    networks = defined.resource(Network)
    made = network()
    made.metadata.finalizers = ["example.com/keep"]
    made = await networks.create(made)
    made.status = NetworkStatus(phase="Up")
    assert (await networks.update_status(made)).status == NetworkStatus(phase="Up")
    assert (await networks.scale.patch("net", MergePatch({"spec": {"replicas": 2}}))).spec.replicas == 2
    found = await wait_for(networks, "net", json_path(".status.phase", "Up"), timeout_s=60)
    assert found is not None
    as_dicts = await defined.resource_for("net")
    assert (await as_dicts.get("net"))["status"]["phase"] == "Up"
    retained = await networks.delete("net")
    assert retained is not None

    async def let_go() -> Network:
        present = await networks.get("net")
        present.metadata.finalizers = []
        return await networks.update(present)

    gone = asyncio.create_task(wait_for(networks, "net", deleted(made.metadata.uid), timeout_s=60))
    await retry_on_conflict(let_go)
    assert await gone is None


async def test_create_or_update_and_patch(defined: Client) -> None:
    networks = defined.resource(Network)

    def wider(present: Network | None) -> Network:
        found = present or network()
        found.spec.cidr = "10.0.0.0/16"
        return found

    def up(present: Network | None) -> Network:
        found = present or network()
        found.status = NetworkStatus(phase="Up")
        return found

    results = [(await create_or_update(networks, "net", wider))[1] for _ in range(2)]
    found, patched = await create_or_patch(networks, "net", up)
    assert [*results, patched] == [OperationResult.CREATED, OperationResult.NONE, OperationResult.UPDATED_STATUS_ONLY]
    assert (found.spec.cidr, found.status) == ("10.0.0.0/16", NetworkStatus(phase="Up"))


async def test_many_writers_of_one_object_all_get_their_turn(defined: Client) -> None:
    networks = defined.resource(Network)
    await networks.create(network())

    async def one_more() -> Network:
        present = await networks.get("net")
        present.spec.replicas += 1
        return await networks.update(present)

    await asyncio.gather(*(retry_on_conflict(one_more) for _ in range(3)))
    assert (await networks.get("net")).spec.replicas == 3


async def test_a_watch_follows_a_declared_kind(defined: Client) -> None:
    networks = defined.resource(Network)
    await networks.create(network("a"))
    found = []
    async with asyncio.timeout(60), aclosing(networks.follow(ListOptions(timeout_seconds=1))) as events:
        async for each in events:
            found.append((each.type, each.object.metadata.name))
            if len(found) == 1:
                await asyncio.sleep(1.2)  # The first watch is over by then: real sockets know no virtual time.
                await networks.create(network("b"))
            elif len(found) == 2:
                await networks.delete("a")
            else:
                break
    assert found == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


async def test_waiting_for_what_another_user_does(client: Client) -> None:
    config_maps = await client.resource_for("configmaps")
    waiting = asyncio.create_task(wait_for(config_maps, "late", exists(), timeout_s=60))
    await config_maps.create(config_map("late"))
    assert (await waiting or {})["metadata"]["name"] == "late"


async def test_following_survives_the_death_of_the_server(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with AsyncExitStack() as stack:
        first = stack.enter_context(running(data))
        client = await stack.enter_async_context(connect(data / "kubeconfig"))
        config_maps = await client.resource_for("configmaps")
        events = await stack.enter_async_context(aclosing(config_maps.follow()))
        await config_maps.create(config_map("before"))
        names = [(await anext(events)).object["metadata"]["name"]]
        waiting = asyncio.ensure_future(anext(events))
        first.process.kill()
        first.process.wait()
        second = await asyncio.to_thread(stack.enter_context, running(data, "--port", str(first.port)))
        assert second.port == first.port
        await config_maps.create(config_map("after"))
        async with asyncio.timeout(60):
            names.append((await waiting).object["metadata"]["name"])
    assert names == ["before", "after"]


def test_a_script_does_the_same_without_await(server: Server) -> None:
    with BlockingClient.connect(server.data / "kubeconfig", field_manager="script") as client:
        definitions = client.resource_for("crd")
        client.run(define(client.asynchronous))
        assert definitions.wait_for("networks.sample.example.com", condition_is("Established"), timeout_s=60)
        networks = client.resource(Network)
        networks.create(network("script"))
        assert [each.metadata.name for each in networks.items()] == ["script"]
        for event in networks.follow():
            assert event.object.spec.cidr == "10.0.0.0/24"
            break
        networks.delete("script")
        with pytest.raises(NotFound):
            networks.get("script")
