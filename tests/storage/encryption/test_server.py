"""A server on an encrypted store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.app.errors import StartError
from sampan.app.storage.encryption import Encryption
from sampan.storage.sqlite import SQLiteStore
from tests.server.cluster import Api, served
from tests.server.history.requests import writes_of
from tests.storage.encryption.keys import KEY, OTHER, content, keys, upkeep_of

SECRETS = "/api/v1/namespaces/default/secrets"
A = "/registry/secrets/default/a"
AES = {"aesgcm": keys(k1=KEY)}
IDENTITY: dict[str, Any] = {"identity": {}}
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
CRD = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def secret(name: str, value: str = "aGlkZGVu") -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"password": value}}


class AtRest:
    """Encryption by a file, on a database that outlives servers."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "encryption.json"
        self.database = directory / "state.db"

    def write(self, *providers: dict[str, Any], resources: list[str] | None = None) -> None:
        self.file.write_bytes(content((resources or ["secrets"], list(providers))))

    @asynccontextmanager
    async def served(self, *providers: dict[str, Any], resources: list[str] | None = None) -> AsyncIterator[Api]:
        self.write(*providers, resources=resources)
        self.store = SQLiteStore(self.database)
        async with served(self.store, at_rest=Encryption(self.file, reload=True)) as api:
            yield api

    async def raw(self, key: str = A) -> bytes:
        """Return the value in the store itself."""
        row = await self.store.get(key)
        assert row is not None
        return row.value


@pytest.fixture
def at_rest(tmp_path: Path) -> AtRest:
    return AtRest(tmp_path)


@pytest.mark.parametrize(
    ("provider", "prefix"),
    [
        (AES, b"k8s:enc:aesgcm:v1:k1:"),
        ({"aescbc": keys(k1=KEY)}, b"k8s:enc:aescbc:v1:k1:"),
        ({"secretbox": keys(k1=KEY)}, b"k8s:enc:secretbox:v1:k1:"),
    ],
    ids=["aesgcm", "aescbc", "secretbox"],
)
async def test_a_written_value_is_encrypted_and_read_again(
    at_rest: AtRest, provider: dict[str, Any], prefix: bytes
) -> None:
    async with at_rest.served(provider, IDENTITY) as api:
        created = await api.create(SECRETS, secret("a"))
        raw = await at_rest.raw()
        assert raw.startswith(prefix)
        assert b"password" not in raw
        assert (await api.get(f"{SECRETS}/a")).body == created
    async with at_rest.served(provider, IDENTITY) as api:
        assert (await api.get(f"{SECRETS}/a")).body == created
        changed = await api.patch(f"{SECRETS}/a", {"data": {"password": "bmV3"}})
        assert changed.body["data"]["password"] == "bmV3"
        assert (await api.delete(f"{SECRETS}/a")).code == 200


async def test_a_watch_shows_plain_objects(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api, api.watch(f"{SECRETS}?watch=1") as watch:
        await api.create(SECRETS, secret("a"))
        await api.patch(f"{SECRETS}/a", {"data": {"password": "bmV3"}})
        await api.delete(f"{SECRETS}/a")
        found = [await watch.event() for _ in range(3)]
        assert [(event["type"], event["object"]["data"]["password"]) for event in found] == [
            ("ADDED", "aGlkZGVu"),
            ("MODIFIED", "bmV3"),
            ("DELETED", "bmV3"),
        ]


async def test_past_revisions_are_read(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        revision = (await api.create(SECRETS, secret("a")))["metadata"]["resourceVersion"]
        await api.patch(f"{SECRETS}/a", {"data": {"password": "bmV3"}})
        found = await api.get(f"{SECRETS}?resourceVersion={revision}&resourceVersionMatch=Exact")
        assert [each["data"]["password"] for each in found.body["items"]] == ["aGlkZGVu"]


async def test_histories_show_plain_objects(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        await api.patch(f"{SECRETS}/a", {"data": {"password": "bmV3"}})
        await api.delete(f"{SECRETS}/a")
        revisions = await writes_of(api, f"{SECRETS}/a")
        assert [each["object"]["data"]["password"] for each in revisions] == ["bmV3", "bmV3", "aGlkZGVu"]
        assert [each["object"] for each in await writes_of(api, SECRETS, "changes", limit=1)][:3] == [
            each["object"] for each in revisions
        ]
        assert len(await writes_of(api, SECRETS, "deleted")) == 1


async def test_other_resources_are_stored_as_they_are(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        assert (await at_rest.raw("/registry/configmaps/default/a")).startswith(b"{")


@pytest.mark.parametrize(
    ("resources", "encrypted"),
    [
        (["*."], {"/registry/configmaps/default/a"}),
        (["*.apps"], {"/registry/deployments/default/a"}),
        (["*.*"], {"/registry/configmaps/default/a", "/registry/deployments/default/a"}),
        (["deployments.apps"], {"/registry/deployments/default/a"}),
    ],
)
async def test_resources_by_group_and_all(at_rest: AtRest, resources: list[str], encrypted: set[str]) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployment = {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    async with at_rest.served(AES, resources=resources) as api:
        await api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        await api.create("/apis/apps/v1/namespaces/default/deployments", deployment)
        both = ("/registry/configmaps/default/a", "/registry/deployments/default/a")
        assert {key for key in both if (await at_rest.raw(key)).startswith(b"k8s:enc:")} == encrypted


@pytest.mark.parametrize("resource", ["widgets.example.com", "*.example.com", "*.*"])
async def test_custom_resources_are_encrypted_too(at_rest: AtRest, resource: str) -> None:
    async with at_rest.served(AES, resources=[resource]) as api:
        await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
        async with api.watch("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1") as watch:
            while "acceptedNames" not in (await watch.event())["object"].get("status", {}):
                pass
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"x": 1}}
        await api.create(WIDGETS, widget)
        assert (await at_rest.raw("/registry/example.com/widgets/default/a")).startswith(b"k8s:enc:aesgcm")
    async with at_rest.served(AES, resources=[resource]) as api:
        assert (await api.get(f"{WIDGETS}/a")).body["spec"] == {"x": 1}


async def test_an_unchanged_object_is_written_again_when_its_key_is_old(at_rest: AtRest) -> None:
    async with at_rest.served(IDENTITY) as api:
        created = await api.create(SECRETS, secret("a"))
    async with at_rest.served(AES, IDENTITY) as api:
        assert (await at_rest.raw()).startswith(b"{")
        stored = await api.put(f"{SECRETS}/a", created)
        assert (await at_rest.raw()).startswith(b"k8s:enc:aesgcm:v1:k1:")
        assert stored.metadata["resourceVersion"] != created["metadata"]["resourceVersion"]
        again = await api.put(f"{SECRETS}/a", stored.body)
        assert again.metadata["resourceVersion"] == stored.metadata["resourceVersion"]


async def test_a_value_that_cannot_be_decrypted_fails_reads_and_lists_of_it(
    at_rest: AtRest,
) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        await api.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
    async with at_rest.served({"aesgcm": keys(k1=OTHER)}) as api:
        text = f'Internal error occurred: unable to transform key "{A}": cipher: message authentication failed'
        for response in (
            await api.get(f"{SECRETS}/a"),
            await api.get(SECRETS),
            await api.get("/api/v1/secrets"),
            await api.put(f"{SECRETS}/a", secret("a")),
            await api.delete(f"{SECRETS}/a"),
        ):
            assert (response.code, response.reason, response.message) == (500, "InternalError", text)
        assert (await api.get("/api/v1/namespaces/default/secrets/absent")).code == 404
        await api.create("/api/v1/namespaces/other/secrets", secret("b"))
        assert (await api.get("/api/v1/namespaces/other/secrets/b")).code == 200
        response = await api.get("/api/v1/namespaces/other/secrets")
        assert response.code == 200, response.message


async def test_values_are_bound_to_their_place(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        await at_rest.store.create("/registry/secrets/default/moved", await at_rest.raw())
        assert (await api.get(f"{SECRETS}/moved")).code == 500


async def test_a_changed_file_is_taken_and_old_keys_still_read(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        at_rest.write({"secretbox": keys(k2=OTHER)}, AES)
        assert await upkeep_of(api).reload()
        await api.create(SECRETS, secret("b"))
        assert (await at_rest.raw("/registry/secrets/default/b")).startswith(b"k8s:enc:secretbox:v1:k2:")
        assert len((await api.get(SECRETS)).body["items"]) == 2
        assert not await upkeep_of(api).reload()


async def test_a_key_that_goes_too_early_is_missed_at_once(at_rest: AtRest, caplog: pytest.LogCaptureFixture) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        at_rest.write({"secretbox": keys(k2=OTHER)}, IDENTITY)
        assert await upkeep_of(api).reload()
        await api.cluster.caches["/registry/secrets/"].wait_ready(5)
        assert (await api.get(f"{SECRETS}/a")).code == 500
        assert "cannot read objects with this encryption configuration: a key is missing" in caplog.text
        at_rest.write({"secretbox": keys(k2=OTHER)}, AES)
        assert await upkeep_of(api).reload()
        await api.cluster.caches["/registry/secrets/"].wait_ready(5)
        assert (await api.get(f"{SECRETS}/a")).code == 200


async def test_a_wrong_file_is_not_taken(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        at_rest.file.write_bytes(b"resources: []")
        assert not await upkeep_of(api).reload()
        await api.create(SECRETS, secret("a"))
        assert (await at_rest.raw()).startswith(b"k8s:enc:aesgcm:v1:k1:")


async def test_a_value_is_readable_again_with_its_key(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
    async with at_rest.served({"aesgcm": keys(k2=OTHER)}) as api:
        assert (await api.get(f"{SECRETS}/a")).code == 500
        at_rest.write({"aesgcm": keys(k2=OTHER, k1=KEY)})
        assert await upkeep_of(api).reload()
        await api.cluster.caches["/registry/secrets/"].wait_ready(5)
        assert (await api.get(f"{SECRETS}/a")).code == 200


def test_a_file_that_is_wrong_is_refused_at_the_start_and_shows_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "encryption.json"
    file.write_bytes(content((["secrets"], [{"aesgcm": {"keys": [{"name": "k", "secret": "aGlkZGVu"}]}}])))
    with pytest.raises(StartError) as raised:
        Encryption(file)
    assert "secret is not of the expected length, got 6, expected one of [16 24 32]" in str(raised.value)
    assert "aGlkZGVu" not in str(raised.value)


async def test_values_are_json_of_objects(at_rest: AtRest) -> None:
    async with at_rest.served(AES) as api:
        await api.create(SECRETS, secret("a"))
        plain = upkeep_of(api).providers.of("", "secrets").read(await at_rest.raw(), A.encode())
        assert orjson.loads(plain.value)["data"] == {"password": "aGlkZGVu"}
