"""The operator of docs/operator-caches.md runs."""

import asyncio
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.operator.cluster import SECRETS, cluster_client
from tests.operator.manager.test_caches import add_namespace

PAGE = (Path(__file__).parents[2] / "docs" / "operator-caches.md").read_text()


async def test_the_operator_of_the_page_finds_pods_by_their_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "boats.py").write_text(code)
    page: dict[str, Any] = runpy.run_path(str(tmp_path / "boats.py"))
    printed: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.setattr("builtins.print", lambda *values, **_: printed.put_nowait(str(values[0])))
    tls = {"tls.crt": "", "tls.key": ""}
    async with cluster_client() as client:
        await add_namespace(client, "port", team="harbour")
        mounted = {"name": "keys", "secret": {"secretName": "keys"}}
        env = [{"name": "A", "value": "b"}]
        pod = {
            "metadata": {"namespace": "port", "name": "junk", "labels": {"app": "boat"}},
            "spec": {"containers": [{"name": "a", "image": "b", "env": env}], "volumes": [mounted]},
        }
        await client.resource(page["PODS"]).create(pod)
        manager = page["harbour"](client)
        task = asyncio.create_task(manager.run())
        await manager.elected.wait()
        secret = {"metadata": {"namespace": "port", "name": "keys"}, "type": "kubernetes.io/tls", "data": tls}
        await client.resource(SECRETS).create(secret)
        async with asyncio.timeout(20):
            while await printed.get() != "junk mounts keys":
                pass
        cached = await manager.client.resource(page["PODS"], namespace="port").get("junk")
        assert "env" not in cached["spec"]["containers"][0]
        manager.stop()
        await task
