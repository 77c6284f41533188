"""Tests of publications, with a DNS zone in memory. Each test has a separate API server, in virtual time."""

import asyncio
from typing import Any

from sampan.operator import Manager
from sampan.resource import ObjectMeta
from sampan.testing import Cluster, has_condition, is_gone
from servers import Servers, Zone

from publications.publication.reconcile import set_up
from publications.publication.v1 import Publication, PublicationSpec, ServiceRef
from publications.targets.target import Entry

NAME = "shop.example.org"


def publication(name: str = "shop", dns_name: str = NAME) -> Publication:
    """Return a publication of the Service `shop`."""
    spec = PublicationSpec(service_ref=ServiceRef(name="shop"), target="dns", name=dns_name)
    return Publication(metadata=ObjectMeta(name=name), spec=spec)


def endpoints(*ready: str, unready: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the EndpointSlice of the Service `shop`."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "shop-1", "labels": {"kubernetes.io/service-name": "shop"}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}],
        "endpoints": [
            {"addresses": [each], "conditions": {"ready": each not in unready}} for each in (*ready, *unready)
        ],
    }


async def start(cluster: Cluster, *ready: str) -> Zone:
    """Run the operator with a publication, and return its zone."""
    servers = Servers()
    await cluster.crds(Publication)
    cluster.run(operator(servers))
    await cluster.apply(endpoints(*ready))
    await cluster.apply(publication())
    await cluster.settled()
    return servers["dns"]


def operator(servers: Servers) -> Any:
    """Return the function that adds the controller with these targets."""

    def add(manager: Manager) -> None:
        set_up(manager, servers)

    return add


def found(zone: Zone, name: str = NAME) -> set[str] | None:
    """Return the addresses that clients find under a name; None if it has no records."""
    entry = zone.records.get(name)
    return None if entry is None else set(entry.addresses)


async def test_ready_endpoints_are_published(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1", "10.0.0.2")
    assert found(zone) == {"10.0.0.1", "10.0.0.2"}
    await cluster.eventually("publications/shop", has_condition("Ready"))


async def test_an_endpoint_that_is_not_ready_is_not_published(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1", "10.0.0.2")
    await cluster.apply(endpoints("10.0.0.1", unready=("10.0.0.2",)))
    await cluster.settled()
    assert found(zone) == {"10.0.0.1"}


async def test_only_changes_are_sent(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1", "10.0.0.2")
    await cluster.apply(endpoints("10.0.0.2", "10.0.0.3"))
    await cluster.settled()
    await cluster.advance(minutes=5)
    assert zone.written[1:] == [(NAME, frozenset({"10.0.0.3"}), frozenset({"10.0.0.1"}))]


async def test_drift_by_hand_is_repaired(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1")
    zone.records[NAME] = zone.records[NAME]._replace(addresses=frozenset({"192.0.2.66"}))
    await cluster.advance(seconds=30)
    assert found(zone) == {"10.0.0.1"}


async def test_a_deleted_publication_is_withdrawn_within_seconds(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1")
    await cluster.delete("publications/shop")
    await cluster.advance(seconds=2)
    assert found(zone) is None


async def test_a_publication_that_was_deleted_while_the_operator_was_off_is_withdrawn(cluster: Cluster) -> None:
    servers = Servers()
    await cluster.crds(Publication)
    running = cluster.run(operator(servers))
    await cluster.apply(endpoints("10.0.0.1"))
    await cluster.apply(publication())
    await cluster.settled()
    await running.crash()
    await cluster.delete("publications/shop")
    await cluster.advance(hours=1)
    assert found(servers["dns"]) == {"10.0.0.1"}
    running.restart()
    await cluster.advance(seconds=2)
    assert found(servers["dns"]) is None
    await cluster.eventually("publications/shop", is_gone())


async def test_records_of_other_clients_are_never_touched(cluster: Cluster) -> None:
    servers = Servers()
    other = Entry("", frozenset({"192.0.2.1"}))
    servers["dns"].records[NAME] = other
    await cluster.crds(Publication)
    cluster.run(operator(servers))
    await cluster.apply(endpoints("10.0.0.1"))
    await cluster.apply(publication())
    await cluster.eventually("publications/shop", has_condition("Ready", "False", reason="NameTaken"))
    await cluster.delete("publications/shop")
    await cluster.eventually("publications/shop", is_gone())
    assert (servers["dns"].records[NAME], found(servers["dns"], "mail.example.org")) == (other, {"192.0.2.25"})


async def test_the_second_publication_of_a_name_waits_for_the_first(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1")
    await cluster.apply(publication("second"))
    await cluster.eventually("publications/second", has_condition("Ready", "False", reason="NameTaken"))
    await cluster.delete("publications/shop")
    await cluster.advance(seconds=30)
    await cluster.eventually("publications/second", has_condition("Ready"))
    assert found(zone) == {"10.0.0.1"}


async def test_no_request_is_sent_before_the_time_that_a_429_names(cluster: Cluster) -> None:
    zone = await start(cluster, "10.0.0.1")
    await cluster.apply(publication("second", "second.example.org"))
    await cluster.settled()
    zone.limit(60)
    zone.requests.clear()
    now = asyncio.get_running_loop().time()
    await cluster.apply(endpoints("10.0.0.7"))
    await cluster.advance(seconds=120)
    assert len([at for at, _ in zone.requests if at - now < 60]) == 1
    assert (found(zone), found(zone, "second.example.org")) == ({"10.0.0.7"}, {"10.0.0.7"})


async def test_a_target_that_the_operator_does_not_have_is_named(cluster: Cluster) -> None:
    await start(cluster)
    spec = PublicationSpec(service_ref=ServiceRef(name="shop"), target="haproxy", name="shop")
    await cluster.apply(Publication(metadata=ObjectMeta(name="other"), spec=spec))
    await cluster.eventually("publications/other", has_condition("Ready", "False", reason="NoTarget"))


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
    await start(cluster, "10.0.0.1")
    await cluster.assert_idempotent()
