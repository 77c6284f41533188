"""Plain functions convert by a webhook: they are run again when its answer is there."""

import asyncio
from collections.abc import Sequence

import pytest

from sampan.core.object import Object
from sampan.registry.awaited_conversion import AwaitedConversion

VERSIONS = ("example.com/v1", "example.com/v2", "example.com/v3")


class Webhook:
    """Converts by changing the apiVersion, and gives others their turn meanwhile."""

    def __init__(self) -> None:
        self.calls = 0

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        self.calls += 1
        assert self.calls < 1000, "endless requests"
        await asyncio.sleep(0)
        return [{**obj, "apiVersion": api_version} for obj in objects]


async def versions_of(conversion: AwaitedConversion, name: str) -> list[str]:
    obj: Object = {"apiVersion": "example.com/v0", "metadata": {"name": name, "managedFields": [{}]}}
    return await conversion.run(lambda: [conversion.convert(obj, version)["apiVersion"] for version in VERSIONS])


async def test_converted_objects_are_not_requested_again() -> None:
    webhook = Webhook()
    conversion = AwaitedConversion(webhook)  # type: ignore[arg-type]  # all that it uses
    for _ in range(2):
        assert await versions_of(conversion, "a") == list(VERSIONS)
    assert webhook.calls == 3


async def test_many_concurrent_conversions_complete_with_a_small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.registry.awaited_conversion._KEPT_MAX", 1)
    webhook = Webhook()
    conversion = AwaitedConversion(webhook)  # type: ignore[arg-type]  # all that it uses
    found = await asyncio.gather(*(versions_of(conversion, f"object-{number}") for number in range(100)))
    assert found == [list(VERSIONS)] * 100
    assert webhook.calls == 300
