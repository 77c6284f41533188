"""/metrics while the store is away, and the names in the rules of docs/etcd.md."""

import re
from pathlib import Path

import pytest
import yaml

from sampan.storage.memory import MemoryStore
from sampan.storage.store import StoreUnreachable
from tests.server.cluster import served

GUIDE = (Path(__file__).parents[3] / "docs" / "etcd.md").read_text()
[RULES] = re.findall(r"```yaml\n# alerts.yaml\n(.*?)```", GUIDE, re.DOTALL)
_ETCDS_OWN = {"etcd_server_has_leader", "etcd_disk_wal_fsync_duration_seconds_bucket"}


async def test_metrics_are_reported_while_the_store_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(store: MemoryStore) -> int:
        raise StoreUnreachable("nobody answers")

    async with served() as api:
        before = (await api.get("/metrics")).body
        monkeypatch.setattr(MemoryStore, "size_bytes", away)
        response = await api.get("/metrics")
    assert response.code == 200
    size = re.compile(rb"^apiserver_storage_size_bytes.*$", re.MULTILINE)
    assert size.findall(response.body) == size.findall(before)


async def test_the_servers_metrics_in_the_rules_of_the_guide_are_there() -> None:
    [group] = yaml.safe_load(RULES)["groups"]
    names = {name for rule in group["rules"] for name in re.findall(r"\b(?:apiserver|etcd)_\w+", rule["expr"])}
    async with served() as api:
        await api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        text = (await api.get("/metrics")).body.decode()
    there = set(re.findall(r"^(?:# TYPE )?(\w+)", text, re.MULTILINE))
    assert names - there == _ETCDS_OWN
