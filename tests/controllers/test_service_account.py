"""Tests of the ServiceAccount and the CA in each active namespace."""

import pytest

from sampan.client import NotFound, wait_for
from sampan.component_base.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from sampan.controllers import root_ca_publisher, service_account
from sampan.controllers.root_ca_publisher import DESCRIPTION, DESCRIPTION_ANNOTATION, ROOT_CA
from sampan.resource import meta
from tests.controllers.cluster import WAIT_S, cluster

CA = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"


async def test_namespaces_get_a_default_service_account() -> None:
    async with cluster(service_account.set_up) as c:
        await c.until(SERVICE_ACCOUNTS, "default", lambda _: True)
        await c.create(NAMESPACES, {"metadata": {"name": "new"}})
        accounts = c.client.resource(SERVICE_ACCOUNTS, namespace="new")
        assert await wait_for(accounts, "default", lambda obj: obj is not None, timeout_s=WAIT_S)


async def test_a_deleted_default_service_account_is_created_again() -> None:
    async with cluster(service_account.set_up) as c:
        first = await c.until(SERVICE_ACCOUNTS, "default", lambda _: True)
        await c.delete(SERVICE_ACCOUNTS, "default")
        await c.until(SERVICE_ACCOUNTS, "default", lambda obj: meta(obj).uid != meta(first).uid)


async def test_a_terminating_namespace_gets_no_service_account() -> None:
    async with cluster(service_account.set_up) as c:
        await c.create(NAMESPACES, {"metadata": {"name": "new"}})
        accounts = c.client.resource(SERVICE_ACCOUNTS, namespace="new")
        await wait_for(accounts, "default", lambda obj: obj is not None, timeout_s=WAIT_S)
        await c.delete(NAMESPACES, "new")
        await accounts.delete("default")
        await c.delete(SERVICE_ACCOUNTS, "default")
        await c.until(SERVICE_ACCOUNTS, "default", lambda _: True)
        with pytest.raises(NotFound):
            await accounts.get("default")


async def test_namespaces_get_the_root_ca() -> None:
    async with cluster(root_ca_publisher.set_up, root_ca=CA) as c:
        published = await c.until(CONFIG_MAPS, ROOT_CA, lambda _: True)
        assert published["data"] == {"ca.crt": CA}
        assert meta(published).annotations == {DESCRIPTION_ANNOTATION: DESCRIPTION}


async def test_changes_of_the_root_ca_are_reverted_and_other_metadata_stay() -> None:
    async with cluster(root_ca_publisher.set_up, root_ca=CA) as c:
        await c.until(CONFIG_MAPS, ROOT_CA, lambda _: True)
        change = {
            "data": {"ca.crt": "x", "more": "y"},
            "metadata": {"annotations": {DESCRIPTION_ANNOTATION: "", "a": "b"}},
        }
        await c.patch(CONFIG_MAPS, ROOT_CA, change)
        right = await c.until(CONFIG_MAPS, ROOT_CA, lambda obj: obj["data"] == {"ca.crt": CA})
        assert meta(right).annotations == {DESCRIPTION_ANNOTATION: DESCRIPTION, "a": "b"}


async def test_a_deleted_root_ca_is_published_again() -> None:
    async with cluster(root_ca_publisher.set_up, root_ca=CA) as c:
        first = await c.until(CONFIG_MAPS, ROOT_CA, lambda _: True)
        await c.delete(CONFIG_MAPS, ROOT_CA)
        await c.until(CONFIG_MAPS, ROOT_CA, lambda obj: meta(obj).uid != meta(first).uid)


async def test_without_a_ca_nothing_is_published() -> None:
    async with cluster(root_ca_publisher.set_up, service_account.set_up) as c:
        await c.until(SERVICE_ACCOUNTS, "default", lambda _: True)
        assert not await c.exists(CONFIG_MAPS, ROOT_CA)
