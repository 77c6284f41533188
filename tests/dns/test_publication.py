"""The Service kube-dns, and answers from the objects of a server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sampan.client import Client
from sampan.component_base.resources import ENDPOINT_SLICES, NAMESPACES, SERVICES
from sampan.dns.exchange import exchange
from sampan.dns.message import Question, Type
from sampan.dns.names import parse_name
from sampan.dns.publication import Publication
from sampan.dns.server import DnsServer
from sampan.dns.set_up import set_up
from sampan.dns.settings import DnsSettings
from sampan.dns.upstreams import Nameserver
from tests.client.connected import connected
from tests.controllers.cluster import cluster

NAMESPACE = "kube-system"
ADDRESS = "192.0.2.7"
HOST = "127.0.0.1"


async def _at_once() -> None:
    pass


@asynccontextmanager
async def publication() -> AsyncIterator[tuple[Client, Publication]]:
    async with connected() as (client, _):
        yield client, Publication(client, [ADDRESS, HOST], lambda: 5353, serving=_at_once)


async def test_the_service_and_a_slice_are_created_for_reachable_addresses() -> None:
    async with publication() as (client, made):
        await made.apply()
        service = await client.resource(SERVICES, namespace=NAMESPACE).get("kube-dns")
        [slice] = await client.resource(ENDPOINT_SLICES, namespace=NAMESPACE).list()
        assert service["spec"]["clusterIP"] == "10.96.0.10"
        assert [(port["name"], port["protocol"], port["port"]) for port in service["spec"]["ports"]] == [
            ("dns", "UDP", 53),
            ("dns-tcp", "TCP", 53),
        ]
        assert slice["endpoints"][0]["addresses"] == [ADDRESS]
        assert [port["port"] for port in slice["ports"]] == [5353, 5353]


async def test_an_unchanged_publication_writes_nothing() -> None:
    async with publication() as (client, made):
        services = client.resource(SERVICES, namespace=NAMESPACE)
        await made.apply()
        before = await services.get("kube-dns")
        await made.apply()
        assert await services.get("kube-dns") == before


async def test_the_slice_is_deleted_at_the_end_and_the_service_stays() -> None:
    async with publication() as (client, made):
        await made.apply()
        await made.drain()
        assert list(await client.resource(ENDPOINT_SLICES, namespace=NAMESPACE).list()) == []
        assert await client.resource(SERVICES, namespace=NAMESPACE).get("kube-dns")


async def test_the_service_of_another_dns_server_is_left_alone() -> None:
    async with publication() as (client, made):
        services = client.resource(SERVICES, namespace=NAMESPACE)
        spec = {"selector": {"k8s-app": "kube-dns"}, "ports": [{"port": 53}]}
        metadata = {"name": "kube-dns", "namespace": NAMESPACE}
        other: Any = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
        before = await services.create(other)
        await made.apply()
        assert await services.get("kube-dns") == before
        assert list(await client.resource(ENDPOINT_SLICES, namespace=NAMESPACE).list()) == []


async def test_a_new_service_resolves_without_a_restart() -> None:
    settings = DnsSettings(bind=(HOST,), port=0, resolv_conf=Path("/dev/null"))
    servers: list[DnsServer] = []

    async with cluster(lambda context: servers.append(set_up(context, settings, HOST))) as c:
        await c.create(NAMESPACES, {"metadata": {"name": "more"}})
        spec = {"clusterIP": "10.96.7.7", "ports": [{"name": "http", "port": 80}]}
        await c.create(SERVICES, {"metadata": {"name": "web"}, "spec": spec})
        await servers[0].ready()
        question = Question(parse_name("web.default.svc.cluster.local"), Type.A)
        async with asyncio.timeout(10):
            while True:
                found = await exchange(
                    Nameserver(HOST, servers[0].port), question, dnssec_ok=False, checking_disabled=False, timeout_s=5.0
                )
                if found.rcode == 0:
                    break
                await asyncio.sleep(0.01)
        assert found.address_records(question)[0].data == bytes([10, 96, 7, 7])
