"""Tests of the annotation with the kubelets' caching time."""

from typing import Any, cast

import pytest

from sampan.component_base.resources import NODES
from sampan.controllers import ttl
from sampan.controllers.ttl import ANNOTATION, ClusterSize
from tests.controllers.cluster import cluster

REF = cast(Any, None)


def sized(*counts: int) -> int:
    """The value after the cluster grew and shrank to these sizes, one after another."""
    size, now = ClusterSize(), 0
    for count in counts:
        while now < count:
            size.on_add(REF, is_in_initial_list=False)
            now += 1
        while now > count:
            size.on_delete(REF)
            now -= 1
    return size.ttl_s


@pytest.mark.parametrize(
    ("counts", "ttl_s"),
    [
        ((1,), 0), ((100,), 0), ((101,), 15), ((500,), 15), ((501,), 30), ((1000,), 30), ((1001,), 60), ((2000,), 60),
        ((2001,), 300), ((5000,), 300), ((101, 90), 15), ((101, 89), 0), ((501, 450), 30), ((501, 449), 15),
        ((2001, 1800), 300), ((2001, 1799), 60), ((2001, 0), 0),
    ],
)  # fmt: skip
def test_the_value_follows_the_size_of_the_cluster_with_hysteresis(counts: tuple[int, ...], ttl_s: int) -> None:
    assert sized(*counts) == ttl_s


async def test_a_new_node_is_annotated() -> None:
    async with cluster(ttl.set_up) as c:
        await c.create(NODES, {"metadata": {"name": "n"}})
        await c.until(NODES, "n", lambda node: node["metadata"].get("annotations") == {ANNOTATION: "0"})


@pytest.mark.parametrize("value", ["15", "soon", None])
async def test_another_value_is_replaced(value: str | None) -> None:
    async with cluster(ttl.set_up) as c:
        await c.create(NODES, {"metadata": {"name": "n", "annotations": {"mine": "stays"}}})
        await c.until(NODES, "n", lambda node: ANNOTATION in node["metadata"]["annotations"])
        await c.patch(NODES, "n", {"metadata": {"annotations": {ANNOTATION: value}}})
        node = await c.until(NODES, "n", lambda node: node["metadata"]["annotations"].get(ANNOTATION) == "0")
        assert node["metadata"]["annotations"]["mine"] == "stays"
