"""Metrics of custom resources go with their CRD."""

from collections.abc import Sequence

from sampan.registry.definition import ResourceDefinition
from sampan.registry.registry import ResourceRegistry
from sampan.registry.strategy import Strategy
from sampan.server.instruments.removed_resources import LATE_S, RemovedResources
from tests.server.cluster import Api
from tests.server.custom_resources import CRD, GROUP, SHIRTS, define, eventually, shirt
from tests.server.verbs.conftest import api

__all__ = ["api"]


def definition(resource: str) -> ResourceDefinition:
    return ResourceDefinition(
        group=GROUP,
        resource=resource,
        kind=resource.title(),
        singular=resource,
        list_kind=f"{resource.title()}List",
        namespaced=True,
        verbs=("list",),
        storage_version="v1",
        versions={},
        strategy=Strategy(),
    )


async def exposed(api: Api) -> list[str]:
    response = await api.get("/metrics")
    return response.response.body.decode().splitlines()


async def shirts(api: Api) -> list[str]:
    return [line.partition("{")[0] for line in await exposed(api) if GROUP in line]


async def unsaid(api: Api) -> Sequence[float]:
    start, label = "field_validation_request_duration_seconds_bucket", 'field_validation=""'
    lines = [line for line in await exposed(api) if line.startswith(start) and label in line]
    return [float(line.rpartition(" ")[2]) for line in lines]


async def test_a_crd_that_is_deleted_leaves_no_series(api: Api) -> None:
    await define(api)
    for name in "abc":
        await api.create(f"{SHIRTS}?fieldValidation=Strict", shirt(name))
    async with api.watch(f"{SHIRTS}?watch=1") as watch:
        await watch.events(3)
        assert "apiserver_request_body_size_bytes_count" in await shirts(api)
        await api.delete(CRD)
        await watch.events(3)
        assert await watch.ended()
    await eventually(lambda: api.get(CRD), lambda response: response.code == 404)
    before = await unsaid(api)
    assert await shirts(api) == []
    after = await unsaid(api)
    assert all(a >= b >= 0 for a, b in zip(after, before, strict=True))


def test_late_records_of_a_removed_resource_are_forgotten_unless_it_is_back() -> None:
    now, forgotten = [0.0], list[set[tuple[str, str]]]()
    registry = ResourceRegistry()
    cap = definition("caps")
    registry.add(definition("shirts"), cap)
    removed = RemovedResources(registry, lambda gone: forgotten.append(set(gone)), lambda: now[0])
    registry.remove(GROUP, "shirts")
    registry.remove(GROUP, "caps")
    registry.add(cap)
    removed.forget_late()
    assert forgotten == [{(GROUP, "shirts")}, {(GROUP, "shirts"), (GROUP, "caps")}, {(GROUP, "shirts")}]
    now[0] = LATE_S + 1
    removed.forget_late()
    removed.forget_late()
    assert len(forgotten) == 4
