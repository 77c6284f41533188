"""Every verb of a resource, against a whole server in this process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, assert_type

import pytest

from sampan.client import (
    AlreadyExists,
    BadRequest,
    Client,
    Conflict,
    DeleteOptions,
    Invalid,
    JsonPatch,
    ListOptions,
    MergePatch,
    NotFound,
    PartialObjectMetadata,
    ResourceClient,
    Scale,
    StrategicMergePatch,
    SubresourceClient,
    TooManyRequests,
    WatchEvent,
    WriteOptions,
)
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ObjectMeta, ResourceInfo, object_type
from tests.client.connected import connected
from tests.client.kinds import Network, NetworkSpec, NetworkStatus, define
from tests.server.cluster import Api


@pytest.fixture
async def connection() -> AsyncIterator[tuple[Client, Api]]:
    async with connected() as found:
        yield found


@pytest.fixture
async def client(connection: tuple[Client, Api]) -> Client:
    return connection[0]


@pytest.fixture
async def config_maps(client: Client) -> ResourceClient[Object]:
    return await client.resource_for("configmaps")


@pytest.fixture
async def networks(client: Client) -> ResourceClient[Network]:
    await define(client)
    return client.resource(Network)


def config_map(name: str = "a", namespace: str = "", **data: str) -> Object:
    metadata: dict[str, Any] = {"name": name, "labels": {"name": name}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def network(name: str = "net", cidr: str = "10.0.0.0/24") -> Network:
    return Network(metadata=ObjectMeta(name=name), spec=NetworkSpec(cidr))


async def forget(api: Api) -> None:
    """Forget the past, in the store and in the caches."""
    await api.cluster.store.compact(await api.cluster.store.revision())
    for cache in api.cluster.caches.values():
        await cache.fresh()


# Typed


async def test_the_types_are_known_before_it_runs(client: Client) -> None:
    pods = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", True)
    assert_type(client.resource(Network), ResourceClient[Network])
    assert_type(client.resource(object_type(Network), namespace="x"), ResourceClient[Network])
    assert_type(client.resource(pods), ResourceClient[Object])
    assert_type(client.resource(Network).metadata_only(), ResourceClient[PartialObjectMetadata])
    assert_type(client.resource(Network).status, SubresourceClient[Network])
    assert_type(client.resource(Network).scale, SubresourceClient[Scale])
    assert_type(client.resource(Network).follow(), AsyncGenerator[WatchEvent[Network], None])
    assert client.resource(pods).info == pods


async def test_a_declared_kind_is_written_and_read_as_its_class(networks: ResourceClient[Network]) -> None:
    made = await networks.create(network())
    assert made.metadata.uid
    read = await networks.get("net")
    assert read == made
    read.spec.cidr = "10.1.0.0/24"
    assert (await networks.update(read)).spec.cidr == "10.1.0.0/24"


async def test_an_update_of_an_old_state_conflicts(networks: ResourceClient[Network]) -> None:
    old = await networks.create(network())
    await networks.patch("net", MergePatch({"spec": {"cidr": "10.1.0.0/24"}}))
    with pytest.raises(Conflict):
        await networks.update(old)


async def test_the_status_is_written_by_itself(networks: ResourceClient[Network]) -> None:
    made = await networks.create(network())
    made.spec.cidr = "not written"
    made.status = NetworkStatus(phase="Up")
    written = await networks.update_status(made)
    assert (written.spec.cidr, written.status) == ("10.0.0.0/24", NetworkStatus(phase="Up"))
    patched = await networks.status.patch("net", MergePatch({"status": {"phase": "Down"}}))
    assert patched == await networks.status.get("net")
    assert patched.status == NetworkStatus(phase="Down")


async def test_a_typed_list_has_its_version(networks: ResourceClient[Network]) -> None:
    for name in ("a", "b", "c"):
        last = await networks.create(network(name))
    found = await networks.list()
    assert [each.metadata.name for each in found] == ["a", "b", "c"]
    assert (len(found), found.resource_version) == (3, last.metadata.resource_version)


async def test_scale_is_read_and_written(networks: ResourceClient[Network]) -> None:
    made = network()
    made.spec.replicas = 1
    await networks.create(made)
    scale = await networks.scale.get("net")
    scale.spec.replicas = 3
    assert (await networks.scale.update("net", scale)).spec.replicas == 3
    zero = await networks.scale.patch("net", MergePatch({"spec": {"replicas": 0}}))
    assert zero.spec.replicas == 0
    assert (await networks.get("net")).spec.replicas == 0


# Reading


async def test_a_missing_object_raises_not_found(config_maps: ResourceClient[Object]) -> None:
    with pytest.raises(NotFound) as raised:
        await config_maps.get("missing")
    assert raised.value.details == {"name": "missing", "kind": "configmaps"}


async def test_a_list_comes_in_pages(config_maps: ResourceClient[Object]) -> None:
    for name in "abcde":
        await config_maps.create(config_map(name))
    first = await config_maps.list(ListOptions(limit=2))
    second = await config_maps.list(ListOptions(limit=2, continue_token=first.continue_token))
    assert (first.remaining, second.remaining) == (3, 1)
    assert [each["metadata"]["name"] for each in (*first, *second)] == ["a", "b", "c", "d"]
    assert first.resource_version == second.resource_version


async def test_items_are_those_of_all_pages(config_maps: ResourceClient[Object]) -> None:
    for name in "abcde":
        await config_maps.create(config_map(name))
    found = [each["metadata"]["name"] async for each in config_maps.items(page_size=2)]
    whole = await config_maps.list_all(page_size=2)
    assert found == [each["metadata"]["name"] for each in whole] == list("abcde")


async def test_items_in_the_middle_of_which_the_history_is_lost_are_still_all(
    config_maps: ResourceClient[Object], connection: tuple[Client, Api]
) -> None:
    for name in "abcde":
        await config_maps.create(config_map(name))
    found = []
    async with aclosing(config_maps.items(page_size=2)) as items:
        async for each in items:
            found.append(each["metadata"]["name"])
            if found == ["a"]:
                await config_maps.patch("a", MergePatch({"data": {"x": "1"}}))
                await forget(connection[1])
    assert found == list("abcde")


async def test_selectors_select(config_maps: ResourceClient[Object]) -> None:
    for name in "abc":
        await config_maps.create(config_map(name))
    by_label = await config_maps.list(ListOptions(label_selector="name in (a,b)"))
    by_field = await config_maps.list(ListOptions(field_selector="metadata.name=c"))
    assert [each["metadata"]["name"] for each in (*by_label, *by_field)] == ["a", "b", "c"]


async def test_listed_objects_state_their_type(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    [found] = await config_maps.list()
    assert (found["apiVersion"], found["kind"]) == ("v1", "ConfigMap")


async def test_metadata_alone_is_read_and_patched(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map(x="1"))
    metadata_only = config_maps.metadata_only()
    [listed] = await metadata_only.list()
    patched = await metadata_only.patch("a", MergePatch({"metadata": {"annotations": {"y": "2"}}}))
    assert listed.metadata.labels == {"name": "a"}
    assert patched.metadata.annotations == {"y": "2"}
    async with aclosing(metadata_only.watch()) as events:
        assert (await anext(events)).object == patched
    with pytest.raises(ValueError, match="use a patch"):
        await metadata_only.update(patched)


# Watching


async def test_a_watch_begins_with_what_is_there(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    async with aclosing(config_maps.watch()) as events:
        assert (await anext(events)).type == "ADDED"
        await config_maps.patch("a", MergePatch({"data": {"x": "1"}}))
        changed = await anext(events)
        assert (changed.type, changed.object["data"]) == ("MODIFIED", {"x": "1"})
        await config_maps.delete("a")
        assert (await anext(events)).type == "DELETED"


async def test_a_watch_from_a_list_misses_nothing(config_maps: ResourceClient[Object]) -> None:
    version = (await config_maps.list()).resource_version
    for name in "abc":
        await config_maps.create(config_map(name))
    found = []
    async with aclosing(config_maps.watch(ListOptions(resource_version=version))) as events:
        async for each in events:
            found.append(each.object["metadata"]["name"])
            if len(found) == 3:
                break
    assert found == list("abc")


async def test_a_watch_ends_when_its_time_is_over(config_maps: ResourceClient[Object]) -> None:
    options = ListOptions(timeout_seconds=1, allow_watch_bookmarks=True)
    assert [each async for each in config_maps.watch(options)] == []


async def test_following_goes_on_over_the_end_of_watches(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    async with aclosing(config_maps.follow(ListOptions(timeout_seconds=1))) as events:
        assert (await anext(events)).type == "ADDED"
        waiting = asyncio.ensure_future(anext(events))
        async with asyncio.timeout(60):
            await asyncio.sleep(1.1)
            await config_maps.delete("a")
            assert (await waiting).type == "DELETED"


# Writing


async def test_an_existing_object_cannot_be_created(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    with pytest.raises(AlreadyExists):
        await config_maps.create(config_map())


async def test_arguments_are_not_changed(config_maps: ResourceClient[Object]) -> None:
    given = config_map(x="1")
    await config_maps.create(given)
    await config_maps.apply(given, force=True)
    assert given == config_map(x="1")


async def test_a_request_without_metadata_is_not_given_any(client: Client) -> None:
    accounts = await client.resource_for("serviceaccounts")
    review: Object = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {}}
    with pytest.raises(NotFound):
        await accounts.subresource("review").create("a", review)
    assert "metadata" not in review


async def test_a_dry_run_writes_nothing(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map(), WriteOptions(dry_run=True))
    with pytest.raises(NotFound):
        await config_maps.get("a")


async def test_strict_validation_refuses_unknown_fields(config_maps: ResourceClient[Object]) -> None:
    with pytest.raises(BadRequest, match='unknown field "dta"'):
        await config_maps.create({**config_map(), "dta": {}}, WriteOptions(field_validation="Strict"))


async def test_an_invalid_object_is_refused_field_by_field(config_maps: ResourceClient[Object]) -> None:
    with pytest.raises(Invalid) as raised:
        await config_maps.create(config_map("A_b", **{"x/y": "1"}))
    assert [cause["field"] for cause in raised.value.causes] == ["metadata.name", "data[x/y]"]


@pytest.mark.parametrize(
    "patch",
    [
        JsonPatch([{"op": "replace", "path": "/data/x", "value": "2"}]),
        MergePatch({"data": {"x": "2"}}),
        StrategicMergePatch({"data": {"x": "2"}}),
    ],
    ids=["json", "merge", "strategic"],
)
async def test_patches_change_an_object(
    config_maps: ResourceClient[Object], patch: JsonPatch | MergePatch | StrategicMergePatch
) -> None:
    await config_maps.create(config_map(x="1", y="1"))
    assert (await config_maps.patch("a", patch))["data"] == {"x": "2", "y": "1"}


async def test_a_client_that_applies_owns(config_maps: ResourceClient[Object]) -> None:
    await config_maps.apply(config_map(x="1"), field_manager="one")
    with pytest.raises(Conflict) as raised:
        await config_maps.apply(config_map(x="2"), field_manager="two")
    assert raised.value.has_cause("FieldManagerConflict")
    taken = await config_maps.apply(config_map(x="2"), field_manager="two", force=True)
    assert taken["data"] == {"x": "2"}
    given_up = await config_maps.apply(config_map(), field_manager="two")
    assert "data" not in given_up


async def test_an_object_that_was_read_can_be_applied(networks: ResourceClient[Network]) -> None:
    read = await networks.create(network())
    assert read.metadata.managed_fields
    read.spec.cidr = "10.9.0.0/24"
    assert (await networks.apply(read, field_manager="me", force=True)).spec.cidr == "10.9.0.0/24"


async def test_a_status_is_applied(networks: ResourceClient[Network]) -> None:
    await networks.create(network())
    wish = {
        "apiVersion": "sample.example.com/v1",
        "kind": "Network",
        "metadata": {"name": "net"},
        "status": {"phase": "Up"},
    }
    applied = await networks.apply(wish, field_manager="me", subresource="status")
    assert applied.status == NetworkStatus(phase="Up")


async def test_an_apply_needs_a_manager(client: Client) -> None:
    anonymous = client.with_defaults(field_manager="")
    with pytest.raises(ValueError, match="field manager"):
        await (await anonymous.resource_for("cm")).apply(config_map())


# Deleting


async def test_a_delete_ends_an_object(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    assert await config_maps.delete("a") is None
    with pytest.raises(NotFound):
        await config_maps.delete("a")


async def test_an_object_that_is_kept_by_a_finalizer_is_given(networks: ResourceClient[Network]) -> None:
    made = network()
    made.metadata.finalizers = ["example.com/keep"]
    await networks.create(made)
    retained = await networks.delete("net")
    assert retained is not None
    assert retained.metadata.deletion_timestamp


async def test_preconditions_guard_a_delete(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    with pytest.raises(Conflict):
        await config_maps.delete("a", DeleteOptions(uid="another"))
    await config_maps.delete("a", DeleteOptions(dry_run=True))
    assert await config_maps.get("a")


async def test_a_collection_is_deleted_as_far_as_selected(config_maps: ResourceClient[Object]) -> None:
    for name in "abc":
        await config_maps.create(config_map(name))
    await config_maps.delete_collection(selection=ListOptions(label_selector="name!=b"))
    assert [each["metadata"]["name"] for each in await config_maps.list()] == ["b"]


async def test_a_collection_is_deleted_by_a_client_of_metadata_only(config_maps: ResourceClient[Object]) -> None:
    await config_maps.create(config_map())
    await config_maps.metadata_only().delete_collection()
    assert (await config_maps.list()).items == []


async def test_a_disruption_budget_forbids_an_eviction_and_allows_it(client: Client) -> None:
    pods = await client.resource_for("pods")
    budgets = await client.resource_for("poddisruptionbudgets")
    container = {"name": "c", "image": "i"}
    metadata = {"name": "p", "labels": {"app": "web"}}
    await pods.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}})
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await pods.status.patch("p", MergePatch({"status": status}))
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await budgets.create(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}
    )
    numbers = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}
    await budgets.status.patch("b", MergePatch({"status": {**numbers, "expectedPods": 1}}))
    with pytest.raises(TooManyRequests) as raised:
        await pods.evict("p")
    assert raised.value.has_cause("DisruptionBudget")
    await budgets.delete("b")
    await pods.evict("p", DeleteOptions(grace_period_seconds=0))
    with pytest.raises(NotFound):
        await pods.get("p")


# Namespaces and defaults


async def test_an_object_that_names_its_namespace_goes_there(client: Client) -> None:
    namespaces = await client.resource_for("namespaces")
    await namespaces.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    config_maps = await client.resource_for("configmaps")
    await config_maps.create(config_map("here"))
    await config_maps.create(config_map("there", "other"))
    found = {
        (each["metadata"]["namespace"], each["metadata"]["name"]) async for each in config_maps.in_namespace("").items()
    }
    assert found >= {("default", "here"), ("other", "there")}
    assert [each["metadata"]["name"] for each in await config_maps.in_namespace("other").list()] == ["there"]


async def test_a_namespace_that_was_requested_is_not_left(config_maps: ResourceClient[Object]) -> None:
    with pytest.raises(ValueError, match="namespace 'other'"):
        await config_maps.in_namespace("default").create(config_map("a", "other"))


async def test_in_all_namespaces_a_name_is_not_enough(config_maps: ResourceClient[Object]) -> None:
    everywhere = config_maps.in_namespace("")
    with pytest.raises(ValueError, match="in_namespace"):
        await everywhere.get("a")
    with pytest.raises(ValueError, match="in_namespace"):
        await everywhere.create(config_map())
    assert await everywhere.create(config_map("a", "default"))


async def test_a_cluster_scoped_resource_has_no_namespace(client: Client) -> None:
    namespaces = await client.resource_for("ns", namespace="ignored")
    assert (await namespaces.get("default"))["kind"] == "Namespace"
    assert namespaces.namespace == ""


async def test_an_empty_name_is_refused(config_maps: ResourceClient[Object]) -> None:
    with pytest.raises(ValueError, match="empty"):
        await config_maps.delete("")


async def test_a_clients_defaults_hold_for_all_its_writes(client: Client) -> None:
    trial = client.with_defaults(dry_run=True, field_manager="trial", namespace="default", field_validation="Strict")
    config_maps = await trial.resource_for("configmaps")
    made = await config_maps.create(config_map())
    assert made["metadata"]["managedFields"][0]["manager"] == "trial"
    with pytest.raises(BadRequest):
        await config_maps.create({**config_map(), "dta": {}})
    real = await client.resource_for("configmaps")
    await real.create(config_map())
    await config_maps.delete("a")
    assert await real.get("a")


async def test_a_type_without_a_declared_kind_is_refused(client: Client) -> None:
    with pytest.raises(TypeError, match="not a declared kind"):
        client.resource(dict)
