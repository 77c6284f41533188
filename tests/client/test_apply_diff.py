"""`diff`: what an apply would change, without a change."""

import inspect
from typing import Any

import pytest

from sampan.client import BlockingResourceClient, Conflict, ResourceClient
from sampan.resource import Object
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client


def config_map(**data: str) -> Object:
    metadata = {"name": "boat", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def test_the_changed_lines_are_printed_like_those_of_kubectl_and_nothing_is_written() -> None:
    async with cluster_client() as client:
        maps = client.with_defaults(field_manager="boats").resource(CONFIG_MAPS)
        stored = await maps.apply(config_map(crew="3", name="Junk"))
        found = await maps.diff(config_map(crew="4", name="Junk"))
        assert found.changed
        lines = str(found).splitlines()
        assert lines[:2] == ["--- LIVE/v1.ConfigMap.default.boat", "+++ MERGED/v1.ConfigMap.default.boat"]
        assert [line for line in lines[2:] if line[0] in "+-"] == ['-  crew: "3"', '+  crew: "4"']
        assert "managedFields" not in str(found)
        now = await maps.get("boat")
        assert now["data"] == {"crew": "3", "name": "Junk"}
        assert now["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


async def test_an_apply_without_a_change_has_an_empty_text() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.apply(config_map(crew="3"), field_manager="a")
        found = await maps.diff(config_map(crew="3"), field_manager="b")
        assert (found.changed, str(found)) == (False, "")


async def test_an_object_that_does_not_exist_is_printed_whole() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        found = await maps.diff(config_map(crew="3"), field_manager="boats")
        assert (found.before, found.changed) == (None, True)
        assert "+kind: ConfigMap" in str(found)
        assert len(await maps.list()) <= 1, "nothing was created"


async def test_fields_of_other_managers_conflict_unless_forced() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.apply(config_map(crew="3"), field_manager="a")
        with pytest.raises(Conflict):
            await maps.diff(config_map(crew="4"), field_manager="b")
        assert (await maps.diff(config_map(crew="4"), field_manager="b", force=True)).changed
        with pytest.raises(ValueError, match="needs a field manager"):
            await maps.diff(config_map(crew="4"))


async def test_values_of_a_secret_are_masked() -> None:
    def secret(**values: str) -> Any:
        metadata = {"name": "keys", "namespace": "default"}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": values}

    async with cluster_client() as client:
        secrets = client.resource(SECRETS)
        await secrets.apply(secret(old="b2xk", same="c2FtZQ=="), field_manager="a")
        text = str(await secrets.diff(secret(old="bmV3", same="c2FtZQ==", more="bW9yZQ=="), field_manager="a"))
    assert not [value for value in ("b2xk", "bmV3", "c2FtZQ", "bW9yZQ") if value in text]
    changed = [line for line in text.splitlines()[2:] if line[0] in "+-"]
    assert sorted(changed) == ["+  more: '***'", "+  old: '*** (after)'", "-  old: '*** (before)'"]


def test_a_blocking_client_takes_the_same_arguments() -> None:
    there, here = (inspect.signature(client.diff).parameters for client in (ResourceClient, BlockingResourceClient))
    assert list(there) == list(here)
