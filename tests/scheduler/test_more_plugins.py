"""Tests of custom plugins."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sampan.component_base.resources import PODS
from sampan.scheduler import read_configuration, set_up
from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.cycle import Cycle, Unschedulable
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, Plugin
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.scheduler import BINDINGS_MAX
from tests.controllers.cluster import SetUp, cluster
from tests.scheduler.objects import node_object, pod_object
from tests.scheduler.test_scheduler import bound, make_nodes, make_pods, not_scheduled


class Mine:
    """A custom plugin."""

    name = "Mine"
    events: Mapping[ClusterEvent, Hint] = {}


class PrefersNode3(Mine):
    def score(self, cycle: Cycle, feasible: Mask) -> Ints:
        return np.array([100 * (name == "node-3") for name in cycle.nodes.names])


class RefusesOnce(Mine):
    def __init__(self, error: Exception) -> None:
        self._errors = [error]
        self.unreserved: list[str] = []

    def reserve(self, cycle: Cycle, pod: PodInfo) -> None:
        if self._errors:
            raise self._errors.pop()

    def unreserve(self, cycle: Cycle, pod: PodInfo) -> None:
        self.unreserved.append(pod.name)


class FailsToBindOnce(Mine):
    def __init__(self) -> None:
        self._errors = [RuntimeError("a bug")]

    async def pre_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        if self._errors:
            raise self._errors.pop()


class WaitsForSome(Mine):
    async def permit(self, cycle: Cycle, pod: PodInfo) -> None:
        if pod.name.startswith("stuck"):
            await asyncio.Event().wait()


def with_plugin(make: Callable[[], Plugin], weight: int = 0) -> SetUp:
    multi_point = {"enabled": [{"name": "Mine", "weight": weight}]}
    configuration = read_configuration(
        {"profiles": [{"plugins": {"multiPoint": multi_point}}], "podInitialBackoffSeconds": 0.01}
    )
    return partial(set_up, configuration=configuration, more_plugins={"Mine": lambda arguments, handle: make()})


async def test_the_score_of_a_custom_plugin_has_its_weight() -> None:
    async with cluster(with_plugin(PrefersNode3, 100)) as work:
        await make_nodes(work, *(node_object(f"node-{number}") for number in range(5)))
        await make_pods(work, pod_object("web"))
        assert await bound(work, "web") == "node-3"


async def test_a_rejection_by_a_custom_plugin_is_reported_and_undone() -> None:
    plugin = RefusesOnce(Unschedulable("Mine", "not yet"))
    async with cluster(with_plugin(lambda: plugin)) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        assert not_scheduled(await work.until(PODS, "web", not_scheduled)) == "not yet"
        assert plugin.unreserved == ["web"]


async def test_a_bug_in_a_custom_plugin_only_fails_one_attempt() -> None:
    makers: list[Any] = [lambda: RefusesOnce(RuntimeError("a bug")), FailsToBindOnce]
    for make in makers:
        async with cluster(with_plugin(make)) as work:
            await make_nodes(work, node_object("node-1", cpu="1"))
            await make_pods(work, pod_object("web", requests={"cpu": "1"}))
            assert await bound(work, "web") == "node-1"


async def test_pods_waiting_for_a_plugin_do_not_block_another_one() -> None:
    async with cluster(with_plugin(WaitsForSome)) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, *(pod_object(f"stuck-{number}") for number in range(BINDINGS_MAX + 1)))
        await make_pods(work, pod_object("web"))
        assert await bound(work, "web") == "node-1"
