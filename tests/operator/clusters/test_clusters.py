"""Several clusters in one operator: joint reconcilers, clusters that come and go, and clusters that do not respond."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import Client, HttpRequest, HttpResponse, TransportError
from sampan.client.transport import Transport
from sampan.informer import Ref
from sampan.operator import LeaderElectionConfig, Manager, ManagerOptions, Request
from sampan.operator.builder import BuildError
from sampan.operator.clusters import (
    ClusterRequest,
    Clusters,
    ClustersBuilder,
    ListedClusters,
    Member,
    UnknownCluster,
)
from sampan.operator.leader_election.guard import LeaseOver
from sampan.resource import Object
from sampan.testing import Cluster
from tests.operator.cluster import CONFIG_MAPS, SECRETS

Factory = Callable[[], Cluster]


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


class Dead:
    """Transport of a cluster that does not respond until it is `alive`."""

    def __init__(self, inner: Transport) -> None:
        self.inner, self.alive, self.requests = inner, False, 0

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests += 1
        if not self.alive:
            await asyncio.sleep(10)
            raise TransportError("no route to host", sent=False)
        return await self.inner.send(request)

    async def aclose(self) -> None:
        """Nothing to close."""


class Copies:
    """Reconciler that copies each config map of a cluster to a secret of the same cluster."""

    def __init__(self) -> None:
        self.clusters: Clusters | None = None
        self.requests: list[ClusterRequest] = []

    async def reconcile(self, request: ClusterRequest) -> None:
        assert self.clusters is not None
        self.requests.append(request)
        client = self.clusters.get(request.cluster).manager.client
        found = await client.resource(CONFIG_MAPS).find(request.request)
        if found is not None:
            secret = {"metadata": {"name": request.name}, "stringData": found.get("data") or {}}
            await client.resource(SECRETS, namespace=request.namespace).apply(
                {"apiVersion": "v1", "kind": "Secret", **secret}, field_manager="copies"
            )


@asynccontextmanager
async def running(
    home: Cluster, provider: ListedClusters, *, options: ManagerOptions = ManagerOptions(), **of_members: Any
) -> AsyncIterator[tuple[Clusters, Copies]]:
    """Run an operator with `Copies` in all clusters of the provider."""
    manager, copies = Manager(home.client(actor="operator"), options), Copies()
    clusters = copies.clusters = Clusters(manager, provider, options=ManagerOptions(**of_members))
    ClustersBuilder(clusters).for_(CONFIG_MAPS).complete(copies.reconcile)
    task = asyncio.create_task(manager.run())
    try:
        yield clusters, copies
    finally:
        manager.stop()
        await task


async def test_one_reconciler_works_in_all_clusters(cluster_factory: Factory) -> None:
    home, east, west = cluster_factory(), cluster_factory(), cluster_factory()
    for cluster, name in ((east, "east"), (west, "west")):
        await cluster.apply(config_map("boat", home=name))
    provider = ListedClusters({"east": east.client(actor="operator"), "west": west.client(actor="operator")})
    async with running(home, provider) as (clusters, copies):
        for cluster in (east, west):
            await cluster.eventually("Secret/boat")
        assert {request.cluster for request in copies.requests if request.name == "boat"} == {"east", "west"}
        assert clusters.names == ["east", "west"]
        assert [each.ready for each in clusters.status()] == [True, True]
        value = clusters.home.registry.get_sample_value("sampan_cluster_ready", {"cluster": "east"})
        assert value == 1


async def test_clusters_come_and_go(cluster_factory: Factory) -> None:
    home, east, west = cluster_factory(), cluster_factory(), cluster_factory()
    await west.apply(config_map("boat"))
    provider = ListedClusters({"east": east.client(actor="operator")})
    async with running(home, provider) as (clusters, copies):
        await east.apply(config_map("raft"))
        await east.eventually("Secret/raft")
        with pytest.raises(UnknownCluster, match="no cluster 'west'"):
            clusters.get("west")
        provider.add("west", west.client(actor="operator"))
        await west.eventually("Secret/boat")
        provider.remove("west")
        await asyncio.sleep(10)
        assert clusters.names == ["east"]
        copies.requests.clear()
        await west.apply(config_map("late"))
        await east.apply(config_map("late"))
        await east.eventually("Secret/late")
        assert {request.cluster for request in copies.requests} == {"east"}
        with pytest.raises(UnknownCluster):
            clusters.enqueue("configmap", "west", Request("default", "late"))


async def test_an_unreachable_cluster_does_not_stop_the_rest_and_is_joined_later(cluster_factory: Factory) -> None:
    home, east, west = cluster_factory(), cluster_factory(), cluster_factory()
    await west.apply(config_map("boat"))
    dead = Dead(west.client(actor="operator").rest.transport)
    provider = ListedClusters({"east": east.client(actor="operator"), "west": Client(dead)})
    async with running(home, provider, cache_sync_timeout_s=30.0) as (clusters, _):
        await east.apply(config_map("raft"))
        await east.eventually("Secret/raft", within=5)
        await asyncio.sleep(300)
        [up, down] = clusters.status()
        assert (up.ready, up.error) == (True, "")
        assert not down.ready
        assert "CacheSyncTimeout: caches did not sync in 30 s: configmaps: no route to host" in down.error
        assert clusters.names == ["east", "west"]
        dead.alive = True
        await west.eventually("Secret/boat", within=400)
        assert [each.error for each in clusters.status()] == ["", ""]


async def test_a_cluster_that_stops_responding_delays_no_other(cluster_factory: Factory) -> None:
    home, east, west = cluster_factory(), cluster_factory(), cluster_factory()
    dead = Dead(west.client(actor="operator").rest.transport)
    dead.alive = True
    provider = ListedClusters({"east": east.client(actor="operator"), "west": Client(dead)})
    async with running(home, provider) as (clusters, _):
        for number in range(20):
            await west.apply(config_map(f"boat-{number}"))
        await west.eventually("Secret/boat-19")
        dead.alive = False
        for number in range(20):
            clusters.enqueue("configmap", "west", Request("default", f"boat-{number}"))
        await asyncio.sleep(1)
        await east.apply(config_map("raft"))
        await east.eventually("Secret/raft", within=5)
        await asyncio.sleep(60)
        failing = clusters.failing()
        assert list(failing) == ["west"]
        assert {each.controller for each in failing["west"]} == {"configmap@west"}, "log lines name the cluster"


async def test_objects_of_the_home_cluster_are_mapped_to_each_cluster(cluster_factory: Factory) -> None:
    home, east, west = cluster_factory(), cluster_factory(), cluster_factory()
    await home.apply(config_map("everywhere"))
    requests: list[str] = []
    manager = Manager(home.client(actor="operator"))
    provider = ListedClusters({"east": east.client(actor="operator")})
    clusters = Clusters(manager, provider)

    def mapped(cluster: str, ref: Ref[Object]) -> Iterable[Request]:
        return [Request(cluster, ref.name)] if ref.name == "everywhere" else []

    async def reconcile(request: ClusterRequest) -> None:
        requests.append(str(request))

    ClustersBuilder(clusters).watches_home(CONFIG_MAPS, mapped).named("spread").complete(reconcile)
    task = asyncio.create_task(manager.run())
    await asyncio.sleep(5)
    assert requests == ["east: east/everywhere"]
    provider.add("west", west.client(actor="operator"))
    await asyncio.sleep(5)
    assert requests[1:] == ["west: west/everywhere"]
    manager.stop()
    await task


async def test_a_plain_reconciler_and_set_up_functions_work_in_each_cluster(cluster_factory: Factory) -> None:
    home, east = cluster_factory(), cluster_factory()
    manager = Manager(home.client(actor="operator"))
    clusters = Clusters(manager, ListedClusters({"east": east.client(actor="operator")}))
    calls: list[str] = []

    @clusters.set_up
    async def prepare(member: Member) -> None:
        await member.client.resource(CONFIG_MAPS).create(config_map("made"))
        calls.append(member.name)

    ClustersBuilder(clusters).for_(CONFIG_MAPS).complete(lambda request: calls.append(str(request)))
    task = asyncio.create_task(manager.run())
    await asyncio.sleep(5)
    assert calls[0] == "east"
    assert "east: default/made" in calls
    manager.stop()
    await task


async def test_only_the_leader_of_the_home_cluster_works_and_its_lease_guards_all_clusters(
    cluster_factory: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, east = cluster_factory(), cluster_factory()
    await east.apply(config_map("boat"))
    provider = ListedClusters({"east": east.client(actor="operator")})
    options = ManagerOptions(leader_election=LeaderElectionConfig("boats", "default", identity="one"))
    async with running(home, provider, options=options) as (clusters, _):
        await east.eventually("Secret/boat")
        other = ManagerOptions(leader_election=LeaderElectionConfig("boats", "default", identity="two"))
        async with running(home, provider, options=other) as (__, idle):
            await asyncio.sleep(30)
            assert idle.requests == []
        guarded = clusters.get("east").manager.client.resource(CONFIG_MAPS)
        monkeypatch.setattr(clusters.home.elector, "is_over", lambda: True)  # As after a long pause.
        with pytest.raises(LeaseOver):
            await guarded.create(config_map("late"))


async def test_a_builder_without_parts_is_refused(cluster_factory: Factory) -> None:
    clusters = Clusters(Manager(cluster_factory().client()), ListedClusters({}))

    async def reconcile(request: ClusterRequest) -> None:
        """Do nothing."""

    with pytest.raises(BuildError, match="nothing is watched"):
        ClustersBuilder(clusters).complete(reconcile)
    with pytest.raises(BuildError, match="only once"):
        ClustersBuilder(clusters).for_(CONFIG_MAPS).for_(SECRETS)
    with pytest.raises(BuildError, match="owns needs for_"):
        ClustersBuilder(clusters).owns(SECRETS)
    with pytest.raises(BuildError, match="needs a name"):
        ClustersBuilder(clusters).watches(SECRETS, lambda ref: []).complete(reconcile)
