"""`kubernetes_asyncio` and `kubernetes.aio`: objects, patches, errors and leader election."""

from collections.abc import AsyncIterator
from typing import Any

import kubernetes_asyncio
import pytest
from kubernetes_asyncio.leaderelection.electionconfig import Config
from kubernetes_asyncio.leaderelection.leaderelection import LeaderElection
from kubernetes_asyncio.leaderelection.resourcelock.leaselock import LeaseLock

from tests.e2e.python.asyncio_client import LIBRARIES, Library, connected
from tests.e2e.python.objects import GROUP, Json, config_map, deployment, pod, widget

LEASE_S, DEADLINE_S, RETRY_S = 17, 15, 1


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """One client after the other."""
    return request.param


@pytest.fixture
async def connection(library: Library, kubeconfig: str) -> AsyncIterator[Any]:
    """A client with the server's kubeconfig."""
    async with connected(library, kubeconfig) as connection:
        yield connection


@pytest.fixture
def core(library: Library, connection: Any) -> Any:
    """The core group."""
    return library.client.CoreV1Api(connection)


@pytest.fixture
async def settings(core: Any, namespace: str) -> Json:
    """A ConfigMap that exists."""
    body = config_map("settings", {"colour": "blue", "size": "large"}, app="web")
    await core.create_namespaced_config_map(namespace, body)
    return body


async def test_an_object_is_created_from_a_model_and_read_back(library: Library, core: Any, namespace: str) -> None:
    metadata = library.client.V1ObjectMeta(name="settings")
    created = await core.create_namespaced_config_map(namespace, library.client.V1ConfigMap(metadata=metadata))
    assert created.metadata.creation_timestamp.tzinfo is not None
    assert await core.read_namespaced_config_map("settings", namespace) == created


async def test_a_list_comes_in_pages(core: Any, namespace: str) -> None:
    for name in ("one", "two", "three"):
        await core.create_namespaced_config_map(namespace, config_map(name, app="web"))
    first = await core.list_namespaced_config_map(namespace, label_selector="app=web", limit=2)
    rest = await core.list_namespaced_config_map(
        namespace, label_selector="app=web", limit=2, _continue=first.metadata._continue
    )
    assert [item.metadata.name for page in (first, rest) for item in page.items] == ["one", "three", "two"]


async def test_replace_conflicts_with_what_another_has_written(
    library: Library, core: Any, namespace: str, settings: Json
) -> None:
    name = settings["metadata"]["name"]
    stale = await core.read_namespaced_config_map(name, namespace)
    fresh = await core.read_namespaced_config_map(name, namespace)
    fresh.data = {"colour": "red"}
    assert (await core.replace_namespaced_config_map(name, namespace, fresh)).data == {"colour": "red"}
    with pytest.raises(library.client.ApiException) as raised:
        await core.replace_namespaced_config_map(name, namespace, stale)
    assert (raised.value.status, raised.value.reason) == (409, "Conflict")
    assert '"reason":"Conflict"' in raised.value.body


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        pytest.param("application/json-patch+json", [{"op": "remove", "path": "/data/size"}], id="json"),
        pytest.param("application/merge-patch+json", {"data": {"size": None}}, id="merge"),
        pytest.param("application/strategic-merge-patch+json", {"data": {"size": None}}, id="strategic"),
    ],
)
@pytest.mark.usefixtures("settings")
async def test_a_patch_changes_what_it_names(core: Any, namespace: str, content_type: str, patch: Any) -> None:
    changed = await core.patch_namespaced_config_map("settings", namespace, patch, _content_type=content_type)
    assert changed.data == {"colour": "blue"}


@pytest.mark.usefixtures("settings")
async def test_apply_conflicts_until_it_is_forced(library: Library, core: Any, namespace: str) -> None:
    body = config_map("settings", {"colour": "red"})
    options = {"field_manager": "tests", "_content_type": "application/apply-patch+yaml"}
    with pytest.raises(library.client.ApiException) as raised:
        await core.patch_namespaced_config_map("settings", namespace, body, **options)
    assert '"reason":"FieldManagerConflict"' in raised.value.body
    applied = await core.patch_namespaced_config_map("settings", namespace, body, force=True, **options)
    assert applied.data == {"colour": "red", "size": "large"}


async def test_a_missing_object_raises_not_found(library: Library, core: Any, namespace: str) -> None:
    with pytest.raises(library.client.ApiException) as raised:
        await core.read_namespaced_pod("nothing", namespace)
    assert (raised.value.status, raised.value.reason) == (404, "Not Found")


async def test_the_status_is_written_through_its_subresource(core: Any, namespace: str) -> None:
    await core.create_namespaced_pod(namespace, pod("web"))
    status = {"status": {"phase": "Running"}, "spec": {"nodeName": "ignored"}}
    changed = await core.patch_namespaced_pod_status("web", namespace, status)
    assert (changed.status.phase, changed.spec.node_name) == ("Running", None)


async def test_a_deployment_is_scaled(library: Library, connection: Any, namespace: str) -> None:
    apps = library.client.AppsV1Api(connection)
    await apps.create_namespaced_deployment(namespace, deployment("web"))
    scale = await apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    assert (scale.spec.replicas, scale.status.selector) == (3, "app=web")


@pytest.mark.usefixtures("settings")
async def test_an_object_and_a_collection_are_deleted(library: Library, core: Any, namespace: str) -> None:
    with pytest.raises(library.client.ApiException) as raised:
        await core.delete_namespaced_config_map("settings", namespace, body={"preconditions": {"uid": "another"}})
    assert raised.value.status == 409
    await core.delete_namespaced_config_map("settings", namespace)
    await core.create_namespaced_config_map(namespace, config_map("one", app="web"))
    await core.delete_collection_namespaced_config_map(namespace, label_selector="app=web")
    assert (await core.list_namespaced_config_map(namespace)).items == []


async def test_custom_objects_have_a_status_and_a_scale(
    library: Library, connection: Any, namespace: str, widgets: Json
) -> None:
    objects = library.client.CustomObjectsApi(connection)
    where = (GROUP, "v1", namespace, widgets["spec"]["names"]["plural"])
    await objects.create_namespaced_custom_object(*where, widget("one", size=1))
    merge = {"_content_type": "application/merge-patch+json"}
    status = {"status": {"phase": "Ready"}, "spec": {"size": 9}}
    changed = await objects.patch_namespaced_custom_object_status(*where, "one", status, **merge)
    assert (changed["status"], changed["spec"]["size"]) == ({"phase": "Ready"}, 1)
    scale = await objects.patch_namespaced_custom_object_scale(*where, "one", {"spec": {"replicas": 4}}, **merge)
    assert scale["spec"] == {"replicas": 4}


@pytest.mark.parametrize("library", [kubernetes_asyncio], indirect=True, ids=["kubernetes_asyncio"])
async def test_a_lease_has_one_leader_at_a_time(connection: Any, namespace: str) -> None:
    # The lock of `kubernetes.aio` 37.0 sends nothing: it passes a flag that its own methods refuse.
    async def lead() -> None:
        raise AssertionError("no candidate runs here")

    def candidate(identity: str) -> LeaderElection:
        lock = LeaseLock("lock", namespace, identity, connection)
        return LeaderElection(Config(lock, LEASE_S, DEADLINE_S, RETRY_S, lead, lead))

    first, second = candidate("one"), candidate("two")
    assert await first.try_acquire_or_renew()
    assert not await second.try_acquire_or_renew()
    second.observed_time_milliseconds -= LEASE_S * 1000  # as if it had watched for so long
    assert await second.try_acquire_or_renew()
    assert not await first.try_acquire_or_renew()
