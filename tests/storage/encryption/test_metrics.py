"""/metrics of encryption at rest."""

import json
from pathlib import Path
from typing import Any

import pytest

from sampan.app.storage.encryption import Encryption
from sampan.server.metrics.encryption import EncryptionMetrics, Reloads
from sampan.storage.encryption.kms.provider import KmsProvider
from sampan.storage.encryption.measures import EncryptionMeasures, prefixes_of
from sampan.storage.encryption.transformer import EncryptionError
from sampan.storage.memory import MemoryStore
from tests.server.cluster import Api, served
from tests.storage.encryption.keys import AT, KEY, OTHER, content, keys, upkeep_of
from tests.storage.encryption.plugin import Plugin

SECRETS = "/api/v1/namespaces/default/secrets"


async def series(api: Api, name: str) -> list[str]:
    """The series of a metric, without its name."""
    text = (await api.client.get("/metrics")).body.decode()
    return sorted(line.removeprefix(name) for line in text.splitlines() if line.startswith(f"{name}{{"))


def secret(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"password": "aGlkZGVu"}}


async def test_values_are_counted_by_their_encryption(tmp_path: Path) -> None:
    file = tmp_path / "encryption.json"
    file.write_bytes(content((["secrets"], [{"aescbc": keys(k1=KEY)}])))
    encryption = Encryption(file)
    async with served(MemoryStore(), at_rest=encryption) as api:
        await api.create(SECRETS, secret("a"))
        await api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        name = "apiserver_storage_transformation_operations_total"
        found = [line for line in await series(api, name) if "to_storage" in line]
        times = await series(api, "apiserver_storage_transformation_duration_seconds_count")
    of = '{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="'
    assert found == [f'{of}k1:"}} 1.0', f'{of}k8s:enc:aescbc:v1:"}} 1.0']
    assert [line.rpartition(" ")[0] for line in times] == [
        f'{{transformation_type="{direction}",transformer_prefix="{prefix}"}}'
        for direction in ("from_storage", "to_storage")
        for prefix in ("k1:", "k8s:enc:aescbc:v1:")
    ]


@pytest.mark.parametrize(
    ("stored", "prefixes"),
    [
        (b"k8s:enc:aescbc:v1:k1:\0\1", ("k8s:enc:aescbc:v1:", "k1:")),
        (b"k8s:enc:kms:v2:main:\0:\1", ("k8s:enc:kms:v2:main:",)),
        (b'{"kind":"Secret"}', ()),
        (b"k8s:enc:nothing", ("unknown",)),
    ],
    ids=["key", "plug-in", "plain", "nobody's"],
)
def test_a_client_that_has_written_a_value_is_read_from_its_beginning(stored: bytes, prefixes: tuple[str, ...]) -> None:
    assert prefixes_of(stored) == prefixes


async def test_the_configuration_that_holds_is_shown_and_what_came_of_later_ones(tmp_path: Path) -> None:
    file = tmp_path / "encryption.json"
    file.write_bytes(content((["secrets"], [{"aescbc": keys(k1=KEY)}])))
    encryption = Encryption(file, reload=True)
    async with served(MemoryStore(), at_rest=encryption) as api:
        info = "apiserver_encryption_config_controller_last_config_info"
        before = await series(api, info)
        file.write_bytes(b"{")
        await upkeep_of(api).reload()
        assert await series(api, info) == before
        file.write_bytes(content((["secrets"], [{"aescbc": keys(k2=OTHER)}])))
        await upkeep_of(api).reload()
        assert await series(api, info) != before
        assert await series(api, "apiserver_encryption_config_controller_automatic_reloads_total") == [
            f'{{apiserver_id_hash="",status="{status}"}} 1.0' for status in ("failure", "success")
        ]


async def shown(measures: EncryptionMeasures, provider: KmsProvider) -> dict[str, float]:
    """The samples of a provider's metrics, by name and labels but for hashes."""
    encryption = EncryptionMetrics(measures, reloads=Reloads(), kms=lambda: [provider], server="me")
    hashes = ("key_id_hash", "apiserver_id_hash", "hash")
    return {
        f"{sample.name} {json.dumps([v for k, v in sorted(sample.labels.items()) if k not in hashes])}": sample.value
        for family in encryption.collect()
        for sample in family.samples
    }


async def test_calls_of_a_plug_in_and_uses_of_its_keys_are_counted() -> None:
    measures, plugin = EncryptionMeasures(now=lambda: 5.0), Plugin()
    provider = KmsProvider("main", plugin, measures=measures)
    await provider.check()
    assert provider.read(provider.write(b"v", AT), AT).value == b"v"
    plugin.key_id = ""
    with pytest.raises(EncryptionError):
        await provider.check()
    plugin.down = True
    with pytest.raises(EncryptionError):
        await provider.check()
    found = await shown(measures, provider)
    name, call = "apiserver_envelope_encryption_", "/v2.KeyManagementService/"
    desired = {
        f'{name}kms_operations_latency_seconds_count ["OK", "{call}Status", "main"]': 2,
        f'{name}kms_operations_latency_seconds_count ["unknown-non-grpc", "{call}Status", "main"]': 1,
        f'{name}kms_operations_latency_seconds_count ["OK", "{call}Encrypt", "main"]': 1,
        f'{name}key_id_hash_total ["main", "from_storage"]': 1,
        f'{name}key_id_hash_total ["main", "to_storage"]': 1,
        f'{name}key_id_hash_last_timestamp_seconds ["main", "to_storage"]': 5,
        f'{name}key_id_hash_status_last_timestamp_seconds ["main"]': 5,
        f'{name}invalid_key_id_from_status_total ["empty", "main"]': 1,
        f'{name}dek_source_cache_size ["main"]': 1,
        "apiserver_storage_data_key_generation_duration_seconds_count []": 1,
    }
    assert {key: found.get(key) for key in desired} == desired
