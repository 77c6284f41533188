"""A server starts even if stored objects of flow control have a version that it cannot read."""

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.translation import Translation, translated
from sampan.wire.json import encode
from tests.registry.stored import builtin_upgrade, stored
from tests.server.cluster import served

API = "/apis/flowcontrol.apiserver.k8s.io"


@pytest.mark.parametrize("name", ["exempt", "other"])
async def test_unreadable_priority_levels_are_logged_and_not_changed(name: str) -> None:
    engine, key = MemoryStore(), f"/registry/prioritylevelconfigurations/{name}"
    await engine.create(key, encode(stored("flowcontrol.apiserver.k8s.io/v1alpha1", "PriorityLevelConfiguration")))
    translation = Translation(upgrade=builtin_upgrade())
    async with served(translated(engine, translation)) as api:
        response = await api.get(f"{API}/v1/prioritylevelconfigurations")
        assert response.code == 500
        assert f'"{key}" cannot be read' in response.message
        assert (await api.get(f"{API}/v1/prioritylevelconfigurations/global-default")).code == 200
        assert (await api.get("/api/v1/namespaces")).code == 200
        row = await engine.get(key)
        assert row is not None
        assert row.mod_revision == row.create_revision
