"""Tokens of accounts that other servers made, and that this server has just received through the store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.storage.memory import MemoryStore
from tests.server.authentication.accounts import Accounts, accounts
from tests.server.several.late_store import LateStore

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@asynccontextmanager
async def two() -> AsyncIterator[tuple[Accounts, Accounts]]:
    """Servers with the same keys, each of which receives the other's writes late."""
    store = MemoryStore()
    await store.open()
    async with (
        accounts(store=LateStore(store, 1, late_max_s=0.1)) as a,
        accounts(store=LateStore(store, 2, late_max_s=0.1)) as b,
    ):
        yield a, b
    await store.close()


async def test_a_server_gives_tokens_of_an_account_that_another_has_just_made() -> None:
    async with two() as (a, b):
        for n in range(10):
            await a.create("serviceaccounts", {"metadata": {"name": f"r{n}"}})
            assert (await b.api.post(f"{ACCOUNTS}/r{n}/token", {"spec": {}})).code == 201


async def test_a_token_of_what_was_just_made_counts_at_another_server() -> None:
    async with two() as (a, b):
        for n in range(10):
            await a.create("serviceaccounts", {"metadata": {"name": f"r{n}"}})
            secret = await a.create("secrets", {"metadata": {"name": f"s{n}"}})
            bound = {"apiVersion": "v1", "kind": "Secret", "name": f"s{n}", "uid": secret["metadata"]["uid"]}
            given = await a.api.create(f"{ACCOUNTS}/r{n}/token", {"spec": {"boundObjectRef": bound}})
            response = await b.api.fetch("POST", REVIEWS, {}, authorization=f"Bearer {given['status']['token']}")
            assert response.code == 201
            assert response.body["status"]["userInfo"]["username"] == f"system:serviceaccount:default:r{n}"
