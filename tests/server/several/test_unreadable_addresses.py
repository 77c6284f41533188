"""A store with addresses and networks of services.k8s.io's alpha, which no server can read any more.

kube-apiserver 1.36.3 ends after a minute, since it cannot look through the addresses; here only what needs them fails.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.translation import Translation, translated
from sampan.wire.json import encode
from tests.registry.stored import builtin_upgrade, stored
from tests.server.cluster import Api, served
from tests.server.several.test_services import ADDRESSES, SERVICES, repair_of, service

ALPHA = "networking.k8s.io/v1alpha1"
IP = "10.96.0.77"
KEY = f"/registry/ipaddresses/{IP}"
NETWORK_KEY = "/registry/servicecidrs/kubernetes"
UNREADABLE = f'the value of "{KEY}" cannot be read: no kind "IPAddress" is registered for version "{ALPHA}"'


@asynccontextmanager
async def old_cluster(**rows: Any) -> AsyncIterator[tuple[Api, MemoryStore]]:
    """A server on a store in which others have written; and that store."""
    engine = MemoryStore()
    for kind, key in (("IPAddress", KEY), ("ServiceCIDR", NETWORK_KEY)):
        if kind in rows:
            await engine.create(key, encode(stored(ALPHA, kind, spec=rows[kind])))
    translation = Translation(upgrade=builtin_upgrade())
    async with served(translated(engine, translation)) as api:
        yield api, engine


async def test_a_list_with_an_address_that_cannot_be_read_names_it() -> None:
    async with old_cluster(IPAddress={}) as (api, _):
        for target in (ADDRESSES, f"{ADDRESSES}/{IP}"):
            response = await api.get(target)
            assert (response.code, response.message) == (500, f"Internal error occurred: {UNREADABLE}")


async def test_an_address_that_cannot_be_read_is_not_given_again() -> None:
    async with old_cluster(IPAddress={}) as (api, _):
        made = await api.create(SERVICES, service("any"))
        assert made["spec"]["clusterIP"] not in ("", IP)
        response = await api.post(SERVICES, service("this", clusterIP=IP))
        assert response.code == 422
        assert response.message.endswith(f"failed to allocate IP {IP}: provided IP is already allocated")


async def test_an_address_that_could_not_be_read_is_free_when_it_is_gone() -> None:
    async with old_cluster(IPAddress={}) as (api, engine):
        assert (await api.post(SERVICES, service("this", clusterIP=IP))).code == 422
        row = await engine.get(KEY)
        assert row is not None
        await engine.delete(KEY, row.mod_revision)
        assert (await api.create(SERVICES, service("this", clusterIP=IP)))["spec"]["clusterIP"] == IP


async def test_a_repair_leaves_an_address_that_cannot_be_read_alone() -> None:
    async with old_cluster(IPAddress={}) as (api, engine):
        await api.create(SERVICES, service("any", clusterIP="10.96.0.78"))
        await repair_of(api, hours=1).once()
        assert await engine.get(KEY) is not None
        assert await engine.get("/registry/ipaddresses/10.96.0.78") is not None


async def test_a_service_whose_address_cannot_be_read_can_be_deleted(caplog: pytest.LogCaptureFixture) -> None:
    async with old_cluster() as (api, engine):
        await api.create(SERVICES, service("old", clusterIP=IP))
        row = await engine.get(KEY)
        assert row is not None
        await engine.update(KEY, encode(stored(ALPHA, "IPAddress")), row.mod_revision)
        with caplog.at_level(logging.WARNING):
            assert (await api.delete(f"{SERVICES}/old")).code == 200
        assert f"cannot release addresses and ports of default/old; the repair loop will: {UNREADABLE}" in caplog.text
        assert (await api.post(SERVICES, service("this", clusterIP=IP))).code == 422


async def test_no_address_is_given_while_no_client_has_the_networks(caplog: pytest.LogCaptureFixture) -> None:
    async with old_cluster(ServiceCIDR={"cidrs": ["10.0.0.0/24"]}) as (api, _):
        assert "cannot read the networks of the cluster" in caplog.text
        response = await api.post(SERVICES, service("any"))
        assert response.code == 500
        assert response.message.endswith('failed to allocate a serviceIP for Service "any": range is full')
        response = await api.post(SERVICES, service("this", clusterIP="10.0.0.7"))
        assert response.code == 422
        assert (await api.create(SERVICES, service("none", clusterIP="None")))["spec"]["clusterIPs"] == ["None"]
