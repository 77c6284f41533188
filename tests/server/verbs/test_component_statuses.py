"""componentstatuses: made on request."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.core.time import format_micro_time
from sampan.server.verbs.components import ELSEWHERE, MonitoredComponent
from tests.server.cluster import Api, served

ALL = "/api/v1/componentstatuses"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as found:
        yield found


async def condition(api: Api, name: str) -> Any:
    """The one condition of a component."""
    response = await api.get(f"{ALL}/{name}")
    assert response.code == 200, response.body
    (found,) = response.body["conditions"]
    return found


async def hold(api: Api, name: str, *, seconds: int) -> None:
    """Create a Lease that was renewed now and lasts so long."""
    now = format_micro_time(api.cluster.clock.now())
    spec = {"holderIdentity": "me", "leaseDurationSeconds": seconds, "renewTime": now}
    body = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": name}, "spec": spec}
    await api.create(LEASES, body)


async def test_all_are_listed_with_the_warning(api: Api) -> None:
    response = await api.get(ALL)
    assert response.body["kind"] == "ComponentStatusList"
    assert [each["metadata"]["name"] for each in response.body["items"]] == [
        "controller-manager",
        "etcd-0",
        "scheduler",
    ]
    assert response.warnings == ["v1 ComponentStatus is deprecated in v1.19+"]


async def test_a_reachable_store_is_healthy(api: Api) -> None:
    assert await condition(api, "etcd-0") == {"type": "Healthy", "status": "True", "message": "ok"}


async def test_a_component_whose_lease_no_client_holds_is_unhealthy(api: Api) -> None:
    text = "no process holds the Lease kube-system/kube-scheduler"
    assert await condition(api, "scheduler") == {"type": "Healthy", "status": "False", "message": text}


async def test_a_component_that_holds_its_lease_is_healthy(api: Api) -> None:
    await hold(api, "kube-controller-manager", seconds=3600)
    assert (await condition(api, "controller-manager"))["message"] == "ok"


async def test_a_component_that_no_longer_renews_its_lease_is_unhealthy(api: Api) -> None:
    spec = {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"}
    metadata = {"name": "kube-scheduler"}
    body = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": metadata, "spec": spec}
    await api.create(LEASES, body)
    text = "me has not renewed the Lease kube-system/kube-scheduler since 2020-01-01T00:00:00.000000Z"
    assert await condition(api, "scheduler") == {"type": "Healthy", "status": "False", "message": text}


async def test_a_component_elsewhere_may_hold_one_of_several_leases() -> None:
    components = {**ELSEWHERE, "scheduler": MonitoredComponent(("kube-controller-manager", "kube-scheduler"))}
    async with served(components=components) as api:
        assert (await condition(api, "scheduler"))["status"] == "False"
        await hold(api, "kube-controller-manager", seconds=3600)
        assert (await condition(api, "scheduler"))["status"] == "True"


async def test_a_component_next_to_the_server_reports_its_fault() -> None:
    faults = ["it has ended", ""]
    components = {**ELSEWHERE, "scheduler": MonitoredComponent(("kube-scheduler",), lambda: faults.pop(0))}
    async with served(components=components) as api:
        assert await condition(api, "scheduler") == {"type": "Healthy", "status": "False", "message": "it has ended"}
        assert await condition(api, "scheduler") == {"type": "Healthy", "status": "True", "message": "ok"}


async def test_an_unknown_component_is_not_found(api: Api) -> None:
    response = await api.get(f"{ALL}/etcd-1")
    assert (response.code, response.message) == (404, 'componentstatus "etcd-1" not found')


async def test_the_table_shows_the_message(api: Api) -> None:
    response = await api.get(ALL, accept=TABLE)
    assert [row["cells"] for row in response.body["rows"]][1] == ["etcd-0", "Healthy", "ok", ""]
    assert (await api.get(f"{ALL}/etcd-0", accept=TABLE)).body["rows"][0]["cells"][1] == "Healthy"


@pytest.mark.parametrize(
    ("query", "count"),
    [("fieldSelector=metadata.name=scheduler", 1), ("labelSelector=a=b", 0), ("labelSelector=!a", 3)],
    ids=["name", "label", "no label"],
)
async def test_selectors_select(api: Api, query: str, count: int) -> None:
    assert len((await api.get(f"{ALL}?{query}")).body["items"]) == count


async def test_metadata_alone_may_be_requested(api: Api) -> None:
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    response = await api.get(ALL, accept=accept)
    assert (response.body["kind"], len(response.body["items"])) == ("PartialObjectMetadataList", 3)


async def test_it_cannot_be_created(api: Api) -> None:
    body = {"kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": "a"}}
    assert (await api.post(ALL, body)).code == 405
