"""Applies of several versions of one object: sets of fields in one version cannot name parts of a list in another."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import SHIRTS, define, shirt

HPA = "/apis/autoscaling/%s/namespaces/default/horizontalpodautoscalers/a"


def metric(name: str, percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def scaler(version: str, **spec: Any) -> dict[str, Any]:
    reference = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": reference, **spec},
    }


async def metrics(api: Api) -> dict[str, int]:
    found = (await api.get(HPA % "v2")).body["spec"]["metrics"]
    return {each["resource"]["name"]: each["resource"]["target"]["averageUtilization"] for each in found}


async def test_a_metric_that_an_update_of_the_newer_version_owns_survives_an_apply_of_the_older(api: Api) -> None:
    await api.apply(HPA % "v1", scaler("v1", targetCPUUtilizationPercentage=60))
    await api.patch(HPA % "v2", {"spec": {"metrics": [metric("cpu", 60), metric("memory", 70)]}})
    assert (await api.apply(HPA % "v1", scaler("v1"))).code == 200
    assert await metrics(api) == {"cpu": 60, "memory": 70}


async def test_other_metrics_survive_an_apply_of_the_older_version_by_the_same_manager(api: Api) -> None:
    await api.apply(HPA % "v2", scaler("v2", metrics=[metric("cpu", 50), metric("memory", 70)]))
    assert (await api.apply(HPA % "v1", scaler("v1", targetCPUUtilizationPercentage=60))).code == 200
    assert await metrics(api) == {"cpu": 60, "memory": 70}


async def test_metrics_that_were_applied_go_with_their_last_owner(api: Api) -> None:
    await api.apply(HPA % "v2", scaler("v2", metrics=[metric("memory", 70)]))
    await api.apply(HPA % "v2", scaler("v2"))
    assert await metrics(api) == {"cpu": 80}


SPEC = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"a": {"b": 1}}, {"a": None}, {"a": {}}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": None}}, {"a": {"b": {}}}),
        ({"a": {"b": 1}, "c": 2}, {"a": None}, {"a": {}}),
        ({"a": None}, {"a": None}, {"a": None}),
        ({}, {"a": None}, {"a": None}),
        ({"a": [1]}, {"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {}, {}),
    ],
)
async def test_a_null_without_a_schema_leaves_an_empty_map(api: Api, first: Any, second: Any, expected: Any) -> None:
    # Results of structured-merge-diff 6.3.2.
    await define(api, {"type": "object", "properties": {"spec": SPEC}})
    await api.apply(f"{SHIRTS}/x", shirt("x", first))
    assert (await api.apply(f"{SHIRTS}/x", shirt("x", second))).body["spec"] == expected
