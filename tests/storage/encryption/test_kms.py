"""KMS v2: seeds, rotation, staleness and what happens when the plug-in is not well."""

import asyncio
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from sampan.app.storage.encryption import Encryption
from sampan.storage.encryption.kms.key_service import KeyStatus
from sampan.storage.encryption.kms.provider import WRITE_MAX_S, KmsProvider
from sampan.storage.encryption.kms.service import GrpcKeyService
from sampan.storage.encryption.providers import Providers
from sampan.storage.encryption.store import EncryptedStore
from sampan.storage.encryption.transformer import EncryptionError, KeyServiceDown, Plain
from sampan.storage.memory import MemoryStore
from sampan.storage.store import StoreUnreachable, UnreadableValue
from tests.server.cluster import served as served_api
from tests.storage.encryption.keys import AT, KEY, configuration, content
from tests.storage.encryption.plugin import Plugin, served

KMS = {"kms": {"apiVersion": "v2", "name": "main", "endpoint": "unix:///tmp/kms.sock"}}
SEED = KEY


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def field(number: int, data: bytes) -> bytes:
    """A field of protobuf with bytes; shorter than 128."""
    return bytes([number << 3 | 2, len(data)]) + data


def kubernetes_value(value: bytes, *, seed: bool = True) -> bytes:
    """Return the value that kube-apiserver stores, made by hand."""
    nonce, info = bytes(range(12)), bytes(range(100, 132))
    key = HKDFExpand(SHA256(), 32, info).derive(SEED) if seed else SEED
    data = (info if seed else b"") + nonce + AESGCM(key).encrypt(nonce, value, AT)
    entry = field(1, b"local.kms.test") + field(2, b"1")
    source = b"encrypted with key-1 " + SEED
    return (
        field(1, data) + field(2, b"key-1") + field(3, source) + field(4, entry) + (bytes([5 << 3, 1]) if seed else b"")
    )


async def ready(plugin: Plugin, clock: Clock | None = None) -> KmsProvider:
    provider = KmsProvider("main", plugin, clock or Clock())
    await provider.check()
    return provider


@pytest.mark.parametrize(("seed", "stale"), [(True, False), (False, True)], ids=["seed", "key"])
async def test_a_value_written_by_kubernetes_is_read(seed: bool, stale: bool) -> None:
    provider = await ready(Plugin())
    assert provider.read(kubernetes_value(b"v", seed=seed), AT) == Plain(b"v", stale)


async def test_values_share_a_seed_that_is_encrypted_once() -> None:
    plugin = Plugin()
    provider = await ready(plugin)
    stored = [provider.write(b"v", AT) for _ in range(5)]
    assert [provider.read(value, AT) for value in stored] == [Plain(b"v", False)] * 5
    assert plugin.calls == ["status", "encrypt"]


async def test_a_seed_is_decrypted_once_and_beforehand() -> None:
    plugin = Plugin()
    stored = [(await ready(plugin)).write(b"v", AT)] * 3
    other = await ready(plugin)
    plugin.calls.clear()
    await other.fetch_keys(stored)
    assert [other.read(value, AT).value for value in stored] == [b"v"] * 3
    assert plugin.calls == ["decrypt"]


async def test_a_new_key_makes_a_new_seed_and_old_values_stale() -> None:
    plugin = Plugin()
    provider = await ready(plugin)
    old = provider.write(b"v", AT)
    plugin.rotate("key-2")
    await provider.check()
    assert provider.read(old, AT) == Plain(b"v", True)
    assert provider.read(provider.write(b"w", AT), AT) == Plain(b"w", False)


async def test_writing_ends_when_the_plugin_is_away_for_long_and_reading_does_not() -> None:
    plugin, clock = Plugin(), Clock()
    provider = await ready(plugin, clock)
    stored = provider.write(b"v", AT)
    plugin.down = True
    clock.now += WRITE_MAX_S + 1
    with pytest.raises(EncryptionError, match="expired"):
        provider.write(b"v", AT)
    assert provider.read(stored, AT).value == b"v"
    plugin.down = False
    await provider.check()
    assert provider.write(b"v", AT)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"healthz": "bad"}, "got unexpected healthz status: bad"),
        ({"version": "v1"}, "expected KMSv2 API version v2, got v1"),
        ({"key_id": ""}, "keyID is empty"),
        ({"key_id": "k" * 1025}, "keyID is 1025 bytes, which exceeds the max size of 1024"),
        ({"down": True}, "nobody answers"),
    ],
)
async def test_a_plugin_that_is_not_well(change: dict[str, object], text: str) -> None:
    plugin = Plugin()
    for name, value in change.items():
        setattr(plugin, name, value)
    provider = KmsProvider("main", plugin, Clock())
    with pytest.raises(EncryptionError, match=f"kmsv2 Provider main is not healthy, error: .*{text}"):
        await provider.check()
    with pytest.raises(EncryptionError, match="has not returned a data key yet"):
        provider.write(b"v", AT)


async def test_health_requests_seldom() -> None:
    plugin, clock = Plugin(), Clock()
    provider = await ready(plugin, clock)
    await provider.health()
    assert plugin.calls.count("status") == 1
    clock.now += 21
    await provider.health()
    assert plugin.calls.count("status") == 2


async def test_concurrent_health_checks_of_a_hanging_plugin_share_one_call() -> None:
    plugin, clock = Plugin(), Clock()
    provider = await ready(plugin, clock)
    plugin.calls.clear()

    def hang() -> KeyStatus:
        plugin.calls.append("status")
        clock.now += 3
        raise KeyServiceDown("no answer in time")

    plugin.status = hang  # type: ignore[method-assign]  # one that takes its whole time
    clock.now += 21
    responses = await asyncio.gather(*(provider.health() for _ in range(3)), return_exceptions=True)
    assert all(isinstance(response, EncryptionError) for response in responses)
    assert plugin.calls == ["status"]


async def test_a_seed_that_is_refused_is_requested_once_in_a_while() -> None:
    plugin, clock = Plugin(), Clock()
    stored = (await ready(Plugin("lost"))).write(b"v", AT)
    provider = await ready(plugin, clock)
    for _ in range(3):
        with pytest.raises(EncryptionError, match="failed to decrypt DEK, error: no such key"):
            provider.read(stored, AT)
    assert plugin.calls.count("decrypt") == 1


async def store_with(plugin: Plugin, below: MemoryStore) -> EncryptedStore:
    found = Providers(configuration(KMS), lambda kms: plugin)
    await found.prime()
    return EncryptedStore(below, found, lambda key: ("", "secrets"))


async def test_while_the_plugin_is_away_the_store_is_not_there() -> None:
    plugin, below = Plugin(), MemoryStore()
    await (await store_with(plugin, below)).create("/a", b"v")
    later = await store_with(plugin, below)
    plugin.down = True
    with pytest.raises(StoreUnreachable):
        await later.range("/", "0")
    with pytest.raises(StoreUnreachable):
        await later.get("/a")


async def test_a_value_with_a_lost_key_does_not_stop_the_rest() -> None:
    plugin, below = Plugin(), MemoryStore()
    await (await store_with(Plugin("lost"), below)).create("/a", b"v")
    store = await store_with(plugin, below)
    await store.create("/b", b"w")
    found = (await store.range("/", "0")).items
    assert isinstance(found[0].value, UnreadableValue)
    assert found[1].value == b"w"


async def test_over_a_socket(tmp_path: Path) -> None:
    plugin = Plugin()
    with served(plugin, tmp_path / "kms.sock"):
        service = GrpcKeyService(f"unix://{tmp_path}/kms.sock", 3.0)
        provider = KmsProvider("main", service)
        await provider.check()
        other = KmsProvider("main", service)
        stored = provider.write(b"v", AT)
        await other.fetch_keys([stored])
        assert other.read(stored, AT).value == b"v"
        plugin.keys.clear()
        third = KmsProvider("main", service)
        with pytest.raises(EncryptionError, match="rpc error: code = INTERNAL desc = no such key"):
            await asyncio.to_thread(third.read, stored, AT)
        service.close()


async def test_a_socket_where_no_client_listens(tmp_path: Path) -> None:
    service = GrpcKeyService(f"unix://{tmp_path}/none.sock", 0.05)
    with pytest.raises(KeyServiceDown):
        await asyncio.to_thread(service.status)
    service.close()


async def test_a_server_with_a_plugin_and_its_health(tmp_path: Path) -> None:
    plugin, file = Plugin(), tmp_path / "encryption.json"
    file.write_bytes(content((["secrets"], [KMS])))
    encryption, store = Encryption(file, connect=lambda kms: plugin), MemoryStore()
    async with served_api(store, at_rest=encryption) as api:
        await api.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "a"}})
        row = await store.get("/registry/secrets/default/a")
        assert row is not None
        assert row.value.startswith(b"k8s:enc:kms:v2:main:")
        assert (await api.get("/api/v1/namespaces/default/secrets/a")).code == 200
        assert (await api.get("/healthz/kms-providers")).code == 200
        plugin.healthz = "bad"
        with pytest.raises(EncryptionError):
            await encryption.providers.kms[0].check()
        assert (await api.get("/healthz/kms-providers")).code == 500
        assert (await api.get("/livez")).code == 200
