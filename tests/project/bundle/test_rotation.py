"""The operator of the manifests rotates the certificate of its webhooks, also when its Secret loses its data."""

from pathlib import Path
from typing import Any

import pytest

from sampan.client import ApiError
from sampan.testing import Cluster
from tests.project.bundle.conftest import edit
from tests.project.bundle.installed import found_in, installed, today

HOOKS = ("mutatingwebhookconfigurations/boats", "validatingwebhookconfigurations/boats")
CRD = "customresourcedefinitions/boats.boats.example.com"
ROTATIONS = 3


def bundles_of(obj: Any) -> list[str]:
    """Return the caBundles of a configuration or of a CRD."""
    configs = [each["clientConfig"] for each in (obj or {}).get("webhooks", ())]
    configs += [obj["spec"]["conversion"]["webhook"]["clientConfig"]] if obj and "spec" in obj else []
    return [each.get("caBundle", "") for each in configs]


async def present(cluster: Cluster) -> list[str]:
    """Return the caBundles of all webhooks."""
    return [each for name in (*HOOKS, CRD) for each in bundles_of(await cluster.get(name))]


async def rotate(cluster: Cluster) -> list[str]:
    """Remove the certificate, and return the new caBundles."""
    before = await present(cluster)
    await cluster.patch("secrets/boats-webhook", {"data": None}, namespace="boats-system")
    for name in (*HOOKS, CRD):
        await cluster.eventually(name, lambda obj: bool(set(bundles_of(obj)) - {"", *before}))
    await cluster.settled()
    return await present(cluster)


@today
async def test_webhooks_and_conversions_work_after_three_forced_rotations(
    harbour: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "the lock is 100 feet long"
    edit(
        harbour / "src/boats/boat/webhook.py",
        ("    return []", f'    if new.spec.length > 100:\n        raise ValueError("{message}")\n    return []'),
    )
    found = found_in(harbour)
    async with installed(found, found.objects, monkeypatch) as (cluster, _):
        shown: list[str] = []
        for number in range(ROTATIONS):
            shown += await rotate(cluster)
            boat = {"apiVersion": "boats.example.com/v2", "kind": "Boat", "metadata": {"name": f"boat-{number}"}}
            await cluster.apply({**boat, "spec": {"length": 7}})
            with pytest.raises(ApiError, match=message):
                await cluster.apply({**boat, "spec": {"length": 700}})
        assert len(set(shown)) == ROTATIONS
