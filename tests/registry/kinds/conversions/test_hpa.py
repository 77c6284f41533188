"""Conversion of autoscalers between v1 and v2."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.registry.kinds.autoscaling.v1_conversion import (
    BEHAVIOR,
    CONDITIONS,
    CURRENT_METRICS,
    METRICS,
    HorizontalPodAutoscalerConversion,
)

CONVERSION = HorizontalPodAutoscalerConversion()
REFERENCE = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}


def to_hub(obj: Object) -> Any:
    return CONVERSION.to_hub(copy.deepcopy(obj))


def from_hub(obj: Object) -> Any:
    return CONVERSION.from_hub(copy.deepcopy(obj))


def cpu(percentage: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percentage}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def hub(*metrics: Object, **spec: Any) -> Object:
    return {
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": REFERENCE, "maxReplicas": 3, "metrics": list(metrics), **spec},
    }


def test_a_percentage_becomes_a_metric() -> None:
    spec = {"maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    assert to_hub({"metadata": {}, "spec": spec})["spec"] == {"maxReplicas": 3, "metrics": [cpu(50)]}


def test_a_percentage_needs_no_annotation() -> None:
    v1 = from_hub(hub(cpu(50)))
    assert v1["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "annotations" not in v1["metadata"]


PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "rps"}, "target": {"type": "AverageValue", "averageValue": "10"}},
}


def test_other_metrics_are_stored_in_an_annotation() -> None:
    v1 = from_hub(hub(PODS, cpu(50)))
    assert json.loads(v1["metadata"]["annotations"][METRICS]) == [
        {"type": "Pods", "pods": {"metricName": "rps", "targetAverageValue": "10"}}
    ]
    assert to_hub(v1) == hub(PODS, cpu(50))


def test_annotations_are_written_as_go_writes_them() -> None:
    container = {"name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 50}}
    since = "2026-01-01T00:00:00Z"
    reported = {"message": "<m>", "reason": "R", "lastTransitionTime": since, "status": "True", "type": "AbleToScale"}
    autoscaler = hub({"containerResource": container, "type": "ContainerResource"})
    annotations = from_hub({**autoscaler, "status": {"conditions": [reported]}})["metadata"]["annotations"]
    assert annotations[METRICS] == (
        '[{"type":"ContainerResource","containerResource":'
        '{"name":"cpu","targetAverageUtilization":50,"container":"c"}}]'
    )
    assert annotations[CONDITIONS] == (
        f'[{{"type":"AbleToScale","status":"True","lastTransitionTime":"{since}","reason":"R",'
        '"message":"\\u003cm\\u003e"}]'
    )


def test_labels_in_annotations_are_sorted() -> None:
    selector = {"matchLabels": {"type": "a", "b": "c", "kind": "d"}}
    metric = {"metric": {"name": "m", "selector": selector}, "target": {"type": "AverageValue", "averageValue": "1"}}
    text = from_hub(hub({"type": "Pods", "pods": metric}))["metadata"]["annotations"][METRICS]
    assert text.endswith('"selector":{"matchLabels":{"b":"c","kind":"d","type":"a"}}}}]')


def test_a_condition_without_a_time_keeps_its_null() -> None:
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": None}
    v1 = from_hub({**hub(cpu(50)), "status": {"conditions": [condition]}})
    assert to_hub(v1)["status"]["conditions"] == [condition]


def test_no_annotation_is_of_another_domain() -> None:
    v1 = from_hub(hub(cpu(50), cpu(60), PODS))
    assert set(v1["metadata"]["annotations"]) == {METRICS}


def test_a_write_in_v1_loses_what_kubernetes_loses() -> None:
    assert to_hub(from_hub(hub(cpu(50), cpu(60), PODS)))["spec"]["metrics"] == [PODS, cpu(50)]


def test_behavior_is_stored_with_the_field_names_of_go() -> None:
    v1 = from_hub(hub(cpu(50), behavior={"scaleUp": {"selectPolicy": "Max"}}))
    assert json.loads(v1["metadata"]["annotations"][BEHAVIOR]) == {
        "ScaleUp": {
            "StabilizationWindowSeconds": None,
            "SelectPolicy": "Max",
            "Policies": None,
            "Tolerance": None,
        },
        "ScaleDown": None,
    }


def test_a_new_percentage_in_v1_replaces_that_of_v2() -> None:
    v1 = from_hub(hub(cpu(50), PODS))
    v1["spec"]["targetCPUUtilizationPercentage"] = 70
    assert to_hub(v1)["spec"]["metrics"] == [PODS, cpu(70)]


@pytest.mark.parametrize("key", [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR])
@pytest.mark.parametrize(
    "text",
    ["", "5", "[5]", "[{}]", '[{"type": 5}]', '{"ScaleUp": 5}', '[{"type": "Pods", "pods": {"metricName": 5}}]'],
)
def test_malformed_annotations_are_dropped(key: str, text: str) -> None:
    spec = {"maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    hub = to_hub({"metadata": {"annotations": {key: text}}, "spec": spec})
    assert hub == {"metadata": {}, "spec": {"maxReplicas": 3, "metrics": [cpu(50)]}}


QUANTITIES = st.sampled_from(["0", "1", "500m", "2k"])
SELECTORS = st.sampled_from([{"matchLabels": {"a": "b"}}, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}])
IDENTIFIERS = st.fixed_dictionaries({"name": st.sampled_from(["a", "b"])}, optional={"selector": SELECTORS})
TARGETS = st.fixed_dictionaries(
    {"type": st.sampled_from(["Utilization", "Value", "AverageValue"])},
    optional={"value": QUANTITIES, "averageValue": QUANTITIES, "averageUtilization": st.integers(1, 100)},
)
CURRENT = st.fixed_dictionaries(
    {}, optional={"value": QUANTITIES, "averageValue": QUANTITIES, "averageUtilization": st.integers(0, 100)}
)


def metrics_of(part: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    name = st.sampled_from(["cpu", "memory"])
    sources: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "Resource": {"name": name},
        "ContainerResource": {"name": name, "container": st.just("c")},
        "Pods": {"metric": IDENTIFIERS},
        "Object": {"metric": IDENTIFIERS, "describedObject": st.just(REFERENCE)},
        "External": {"metric": IDENTIFIERS},
    }
    return st.one_of(
        *(
            st.fixed_dictionaries(
                {"type": st.just(kind), kind[0].lower() + kind[1:]: st.fixed_dictionaries({**fields, part: values})}
            )
            for kind, fields in sources.items()
        )
    )


RULES = st.fixed_dictionaries(
    {"selectPolicy": st.just("Max")},
    optional={
        "stabilizationWindowSeconds": st.integers(0, 3600),
        "tolerance": st.sampled_from(["50m", "0"]),
        "policies": st.lists(
            st.fixed_dictionaries(
                {"type": st.just("Pods"), "value": st.integers(1, 9), "periodSeconds": st.integers(1, 9)}
            ),
            min_size=1,
            max_size=2,
        ),
    },
)
BEHAVIORS = st.fixed_dictionaries({"scaleUp": RULES}, optional={"scaleDown": RULES})
STATUSES = st.fixed_dictionaries(
    {"desiredReplicas": st.integers(0, 5)},
    optional={
        "currentReplicas": st.integers(1, 5),
        "currentMetrics": st.lists(metrics_of("current", CURRENT), min_size=1, max_size=3),
        "conditions": st.just(
            [{"type": "AbleToScale", "status": "True", "lastTransitionTime": None, "reason": "Ready"}]
        ),
    },
)
HUBS = st.fixed_dictionaries(
    {
        "metadata": st.sampled_from([{"name": "a"}, {"name": "a", "annotations": {"x": "y"}}]),
        "spec": st.fixed_dictionaries(
            {
                "scaleTargetRef": st.just(REFERENCE),
                "maxReplicas": st.integers(1, 9),
                "metrics": st.lists(metrics_of("target", TARGETS), min_size=1, max_size=4),
            },
            optional={"minReplicas": st.integers(0, 3), "behavior": BEHAVIORS},
        ),
    },
    optional={"status": STATUSES},
)


@given(HUBS)
def test_a_converted_v1_autoscaler_survives_v2(autoscaler: Object) -> None:
    v1 = from_hub(autoscaler)
    assert from_hub(to_hub(v1)) == v1


V1 = st.fixed_dictionaries(
    {
        "metadata": st.sampled_from([{"name": "a"}, {"name": "a", "annotations": {"x": "y"}}]),
        "spec": st.fixed_dictionaries(
            {"maxReplicas": st.integers(1, 9), "targetCPUUtilizationPercentage": st.integers(1, 100)},
            optional={"minReplicas": st.integers(0, 3)},
        ),
    }
)


@given(V1)
def test_a_v1_autoscaler_survives_v2(autoscaler: Object) -> None:
    assert from_hub(to_hub(autoscaler)) == autoscaler


def test_metrics_that_are_null_are_none() -> None:
    hpa = {"apiVersion": "autoscaling/v2", "metadata": {}, "spec": {}, "status": {"currentMetrics": None}}
    assert HorizontalPodAutoscalerConversion().from_hub(hpa)["status"] == {"currentReplicas": 0}
