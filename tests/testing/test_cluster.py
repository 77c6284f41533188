"""A cluster in the process: objects, users, control loops, time and states."""

import asyncio
import datetime as dt

import pytest

from sampan.client import Forbidden, NotFound
from sampan.operator import Result
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster, ClusterOptions, NotSettled, Requests, SentRequest, field, has_condition
from sampan.testing.requests import Proceed
from tests.operator.cluster import CONFIG_MAPS, SECRETS

BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}, "data": {"colour": "blue"}}
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
"""


async def test_objects_are_applied_read_changed_and_deleted_in_the_words_of_kubectl(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    await cluster.patch("cm/box", {"data": {"colour": "red"}})
    assert (await cluster.get("configmaps", "box"))["data"] == {"colour": "red"}
    assert [each["metadata"]["name"] for each in await cluster.list("cm")] == ["box"]
    await cluster.delete("cm/box")
    assert await cluster.find("cm/box") is None


async def test_a_custom_resource_of_a_group_of_kubernetes_is_patched(cluster: Cluster) -> None:
    names = {"plural": "routes", "singular": "route", "kind": "Route"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    approved = {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/1"}
    await cluster.crds(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "routes.gateway.networking.k8s.io", "annotations": approved},
            "spec": {
                "group": "gateway.networking.k8s.io",
                "scope": "Namespaced",
                "names": names,
                "versions": versions,
            },
        }
    )
    await cluster.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Route", "metadata": {"name": "a"}})
    await cluster.patch("route/a", {"spec": {"port": 80}})
    assert (await cluster.get("route/a"))["spec"] == {"port": 80}


async def test_timestamps_begin_at_a_fixed_instant(cluster: Cluster) -> None:
    assert cluster.now() == dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    await cluster.apply(BOX)
    assert (await cluster.get("cm/box"))["metadata"]["creationTimestamp"] == "2030-01-01T00:00:00Z"
    await cluster.advance(days=1, hours=2)
    assert cluster.now() == dt.datetime(2030, 1, 2, 2, tzinfo=dt.UTC)


async def test_rights_of_a_user_are_those_of_rbac(cluster: Cluster) -> None:
    jane = cluster.client("jane").resource(CONFIG_MAPS)
    with pytest.raises(Forbidden, match='User "jane" cannot list resource "configmaps"'):
        await jane.list()


async def test_two_clusters_do_not_share_objects(cluster: Cluster, cluster_factory: type[Cluster]) -> None:
    other = cluster_factory()
    await cluster.apply(BOX)
    with pytest.raises(NotFound):
        await other.get("cm/box")


async def test_owned_objects_and_namespaces_are_deleted(cluster: Cluster) -> None:
    (box,) = await cluster.apply(BOX)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "box", "uid": box["metadata"]["uid"]}
    await cluster.apply(
        [
            {**BOX, "metadata": {"name": "child", "ownerReferences": [owner]}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dock"}},
            {**BOX, "metadata": {"name": "inside", "namespace": "dock"}},
        ]
    )
    await cluster.delete("cm/box", "ns/dock")
    await cluster.settled()
    assert not await cluster.list("cm", namespace="")
    assert await cluster.find("ns/dock") is None


def has_ready_condition(pod: Object) -> bool:
    """Return whether the Pod's condition Ready is True."""
    conditions = pod["status"].get("conditions", [])
    return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)


@pytest.mark.cluster(loops="chain", nodes=2)
async def test_the_chain_of_loops_makes_pods_ready(cluster: Cluster) -> None:
    await cluster.apply(WEB)
    await cluster.settled()
    assert (await cluster.get("deploy/web"))["status"]["readyReplicas"] == 2
    assert {pod["spec"]["nodeName"] for pod in await cluster.list("pods")} == {"node-1", "node-2"}


@pytest.mark.cluster(loops="chain")
async def test_pods_behave_as_the_rules_state(cluster: Cluster) -> None:
    cluster.pods.crash("web-*", after=1, times=2)
    await cluster.apply(WEB.replace("replicas: 2", "replicas: 1"))
    pod = (await cluster.eventually(lambda: cluster.list("pods")))[0]["metadata"]["name"]
    await cluster.eventually(f"pods/{pod}", field(".status.containerStatuses[0].restartCount") == 2)
    await cluster.eventually("deploy/web", has_condition("Available"))
    cluster.pods.image_pull_fails("bare")
    cluster.pods.never_ready("other")
    for name in ("bare", "other"):
        spec = {"containers": [{"name": "main", "image": "main"}]}
        await cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    await cluster.eventually("pods/bare", field(".status.containerStatuses[0].state.waiting.reason").contains("Pull"))
    await cluster.consistently("pods/other", ~has_condition("Ready"), during=600)


@pytest.mark.cluster(loops="chain")
async def test_a_pod_becomes_ready_at_the_time_of_its_rule(cluster: Cluster) -> None:
    cluster.pods.ready_after("slow", 90)
    spec = {"containers": [{"name": "main", "image": "main"}]}
    await cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "slow"}, "spec": spec})
    await cluster.advance_to("2030-01-01T00:01:20Z")
    assert cluster.now() == dt.datetime(2030, 1, 1, 0, 1, 20, tzinfo=dt.UTC)
    assert not any(has_ready_condition(pod) for pod in await cluster.list("pods"))
    await cluster.advance_to(dt.datetime(2030, 1, 1, 0, 2, tzinfo=dt.UTC))
    assert all(has_ready_condition(pod) for pod in await cluster.list("pods"))


async def test_the_clock_does_not_go_back(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="is past"):
        await cluster.advance_to("2029-12-31T00:00:00Z")


async def test_a_restored_state_has_the_objects_and_the_time_of_the_fork(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    state = await cluster.fork()
    await cluster.advance(hours=1)
    await cluster.delete("cm/box")
    await cluster.restore(state)
    assert (await cluster.get("cm/box"))["data"] == {"colour": "blue"}
    assert cluster.now() == dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


def copies(manager: Manager) -> None:
    """Add a controller that makes a Secret for each ConfigMap."""

    async def reconcile(request: Request) -> Result:
        box = await manager.client.resource(CONFIG_MAPS).get(request.name)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": request.name}, "stringData": box["data"]}
        await manager.client.resource(SECRETS).apply(secret)
        return Result()

    Builder(manager).for_(CONFIG_MAPS).complete(reconcile)


async def test_an_operator_runs_until_the_end_and_its_requests_are_recorded(cluster: Cluster) -> None:
    cluster.run(copies)
    await cluster.apply(BOX)
    await cluster.settled()
    assert (await cluster.get("secret/box"))["data"] == {"colour": "Ymx1ZQ=="}
    operator: Requests = cluster.requests.by("operator")
    assert [str(each) for each in operator.writes.of("secrets")] == ["operator: patch secrets default/box -> 201"]


async def test_an_interceptor_sees_each_request(cluster: Cluster) -> None:
    seen = []

    async def note(sent: SentRequest, proceed: Proceed) -> object:
        seen.append((sent.actor, sent.info.verb, sent.info.resource))
        return await proceed()

    await cluster.get("ns/default")
    cluster.interceptors.append(note)  # type: ignore[arg-type]  # the response is passed through
    await cluster.get("ns/default")
    assert seen == [("test", "get", "namespaces")]


async def test_a_cluster_that_never_settles_names_its_busiest_requests(cluster: Cluster) -> None:
    async def spin() -> None:
        while True:
            await cluster.client(actor="spinner").resource(CONFIG_MAPS).list()
            await asyncio.sleep(0.5)

    cluster.run(spin, name="spinner")
    with pytest.raises(NotSettled, match=r"122 x spinner: list configmaps default"):
        await cluster.settled()


async def test_clusters_leave_no_tasks_behind() -> None:
    async def once() -> None:
        async with Cluster(ClusterOptions()) as one:
            await one.apply(BOX)

    await once()
    before = len(asyncio.all_tasks())
    for _ in range(20):
        await once()
    assert len(asyncio.all_tasks()) == before


def test_a_plain_test_uses_the_blocking_form(cluster: Cluster) -> None:
    cluster.blocking.apply(BOX)
    cluster.blocking.advance(hours=1)
    assert cluster.blocking.get("cm/box")["data"] == {"colour": "blue"}


@pytest.mark.cluster(loops="chain,local-path")
async def test_a_claim_gets_a_volume_and_a_container_reports_at_its_end(cluster: Cluster) -> None:
    cluster.pods.complete("writer", message="written")
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await cluster.apply(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim}
    )
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}], "volumes": [volume]}
    await cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "writer"}, "spec": spec})
    pod = await cluster.eventually("pods/writer", field(".status.phase") == "Succeeded")
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == "written"
