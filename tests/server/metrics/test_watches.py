"""/metrics of what watches send, and of what happens beside requests."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.core.telemetry.work import WorkMetrics
from sampan.server.instruments.histogram import cumulative
from sampan.server.metrics.process import ProcessMetrics
from sampan.server.metrics.watches import WatchMetrics
from sampan.storage.store import StoreUnavailable
from tests.server.cluster import Api
from tests.server.metrics.test_counted import CONFIG_MAP, CONFIG_MAPS, counts
from tests.server.verbs.conftest import api

__all__ = ["api"]

OF = "resource=configmaps,version=v1"


def samples(metrics: WatchMetrics, name: str) -> dict[str, float]:
    """The buckets of a histogram that hold something new, and all else by the sample's name."""
    found = [sample for family in metrics.collect() for sample in family.samples if sample.name.startswith(name)]
    return {each.labels.get("le", each.name): each.value for each in found}


def test_events_are_counted_by_their_own_size_also_when_they_go_out_together() -> None:
    metrics = WatchMetrics()
    sent = metrics.sent("", "v1", "pods")
    assert sent.counted(sent.joined([b"a" * 1000, b"b" * 1000])) == b"a" * 1000 + b"b" * 1000
    sent.counted(sent.joined([b"a" * 10, b"b" * 1500, b"c" * 200_000]))
    found = samples(metrics, "apiserver_watch_events_")
    assert (found["1024"], found["2048"], found["131072"], found["+Inf"]) == (3, 4, 4, 5)
    assert found["apiserver_watch_events_sizes_sum"] == 203_510
    assert found["apiserver_watch_events_total"] == 5


async def test_bookmarks_are_events_and_the_list_of_a_watch_is_timed(api: Api) -> None:
    await api.create(CONFIG_MAPS, CONFIG_MAP)
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"{CONFIG_MAPS}?{query}") as watch:
        await watch.events(2)
        await api.create(CONFIG_MAPS, {"metadata": {"name": "b"}})
        await watch.event()
    assert await counts(api, "apiserver_watch_events_total") == {OF: 3}
    lists = await counts(api, "apiserver_watch_list_duration_seconds_count")
    assert lists == {"resource=configmaps,scope=namespace,version=v1": 1}


async def test_the_watch_cache_has_room_for_a_hundred_events_at_first(api: Api) -> None:
    assert (await counts(api, "watch_cache_capacity"))["resource=configmaps"] == 100


async def create(api: Api) -> Any:
    return await api.post(CONFIG_MAPS, CONFIG_MAP)


async def create_again(api: Api) -> Any:
    await api.post(CONFIG_MAPS, CONFIG_MAP)
    return await api.put(f"{CONFIG_MAPS}/a", {**CONFIG_MAP, "data": {"x": "y"}})


async def delete(api: Api) -> Any:
    await api.post(CONFIG_MAPS, CONFIG_MAP)
    return await api.delete(f"{CONFIG_MAPS}/a")


@pytest.mark.parametrize(
    ("work", "steps"),
    [
        (create, {"CREATE,admit": 1, "CREATE,validate": 1}),
        (create_again, {"CREATE,admit": 1, "CREATE,validate": 1, "UPDATE,admit": 1, "UPDATE,validate": 1}),
        (delete, {"CREATE,admit": 1, "CREATE,validate": 1, "DELETE,admit": 1, "DELETE,validate": 1}),
    ],
)
async def test_the_steps_of_admission_are_counted_also_where_no_client_has_anything_to_do(
    api: Api, work: Callable[[Api], Awaitable[Any]], steps: dict[str, int]
) -> None:
    await work(api)
    found = await counts(api, "apiserver_admission_step_admission_duration_seconds_count")
    shown = {f"{operation},{kind}": f"operation={operation},rejected=false,type={kind}" for operation, kind in KINDS}
    assert {name: found[labels] for name, labels in shown.items() if labels in found} == steps


KINDS = [(operation, kind) for operation in ("CREATE", "UPDATE", "DELETE") for kind in ("admit", "validate")]


async def test_a_failed_operation_of_the_store_is_counted(api: Api) -> None:
    async def full(*_: object, **__: object) -> object:
        raise StoreUnavailable("no")

    await api.create(CONFIG_MAPS, CONFIG_MAP)
    api.cluster.store.create = full  # type: ignore[method-assign,assignment]  # a store that is away
    assert (await api.post(CONFIG_MAPS, {"metadata": {"name": "b"}})).code == 503
    assert await counts(api, "etcd_request_errors_total") == {"operation=create,resource=configmaps": 1}


def test_the_bounds_of_work_queues_are_those_of_kubernetes_to_the_last_digit() -> None:
    bounds = [bound for bound, _ in cumulative(WorkMetrics().waits.buckets, [0.0] * 11)]
    assert bounds == [
        *("1e-08", "1e-07", "1e-06", "9.999999999999999e-06", "9.999999999999999e-05"),
        *("0.001", "0.01", "0.1", "1", "10", "+Inf"),
    ]


def test_network_traffic_is_read_from_the_kernel(tmp_path: Path) -> None:
    netstat = tmp_path / "netstat"
    netstat.write_text("TcpExt: A B\nTcpExt: 1 2\nIpExt: InOctets X OutOctets\nIpExt: 30 1 40\n")
    found = {each.name: each.samples[0].value for each in ProcessMetrics(netstat).collect()}
    assert found["process_network_receive_bytes"] == 30
    assert found["process_network_transmit_bytes"] == 40
    assert found["process_virtual_memory_max_bytes"] > 0


def test_metrics_of_the_network_are_left_out_where_the_kernel_has_none(tmp_path: Path) -> None:
    found = [each.name for each in ProcessMetrics(tmp_path / "none").collect()]
    assert found == ["process_virtual_memory_max_bytes", "asyncio_tasks"]


async def test_the_version_is_reported(api: Api) -> None:
    (labels,) = await counts(api, "version_info")
    assert labels == "binary=1.36,component=kube,emulation=1.36,min_compat=1.35"
