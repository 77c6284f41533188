"""Requests and limits of a whole Pod."""

from typing import Any

import pytest

from sampan.core.numbers.resource_amounts import amounts
from sampan.core.object import Object
from sampan.core.pods.resources import Kind, parts_of, pod_limits, pod_requests


def container(name: str, cpu: str, *, kind: Kind = "requests", **more: Any) -> Object:
    """Return a container with a request (or limit) for CPU."""
    return {"name": name, "resources": {kind: {"cpu": cpu}}, **more}


def sidecar(name: str, cpu: str) -> Object:
    """Return a sidecar."""
    return container(name, cpu, restartPolicy="Always")


def requested(pod: Object, **options: bool) -> dict[str, int]:
    """Return the requests of a Pod as integers."""
    return pod_requests(parts_of(pod, "requests", lambda values: amounts(values or {}), **options))


def limited(pod: Object, **options: bool) -> dict[str, int]:
    """Return the limits of a Pod as integers."""
    return pod_limits(parts_of(pod, "limits", lambda values: amounts(values or {}), **options))


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([], 300),
        ([container("i", "200m")], 300),
        ([container("i", "500m")], 500),
        ([sidecar("s", "50m")], 350),
        ([sidecar("s", "50m"), container("i", "290m")], 350),
        ([sidecar("s", "50m"), container("i", "400m")], 450),
        ([container("i", "400m"), sidecar("s", "50m")], 400),
        ([sidecar("s", "1"), container("i", "10m"), sidecar("t", "1")], 2300),
    ],
    ids=["none", "less", "more", "sidecar", "small next to it", "large next to it", "before it", "two sidecars"],
)
def test_requests_are_the_peak_of_init_containers_sidecars_and_containers(init: list[Object], cpu: int) -> None:
    containers = [container("a", "100m"), container("b", "200m")]
    assert requested({"spec": {"containers": containers, "initContainers": init}}) == {"cpu": cpu}


def test_pod_level_resources_replace_those_of_containers() -> None:
    whole = {"requests": {"cpu": "1", "hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi"}}
    pod = {"spec": {"containers": [container("a", "3")], "resources": whole, "overhead": {"cpu": "10m"}}}
    assert requested(pod) == {"cpu": 1010, "hugepages-2Mi": 4 << 20}


def test_overhead_can_be_left_out() -> None:
    pod = {"spec": {"containers": [container("a", "1")], "overhead": {"cpu": "10m", "memory": "1Ki"}}}
    assert requested(pod) == {"cpu": 1010, "memory": 1024}
    assert requested(pod, overhead=False) == {"cpu": 1000}


def test_pod_level_resources_can_be_left_out() -> None:
    spec = {"containers": [container("a", "1")], "resources": {"requests": {"cpu": "3"}}}
    assert requested({"spec": spec}, pod_level=False) == {"cpu": 1000}


def test_overhead_is_added_to_limits_above_zero_only() -> None:
    zero = {"name": "b", "resources": {"limits": {"memory": "0"}}}
    pod = {
        "spec": {
            "containers": [container("a", "1", kind="limits"), zero],
            "overhead": {"cpu": "10m", "memory": "1Ki", "ephemeral-storage": "1Ki"},
        }
    }
    assert limited(pod) == {"cpu": 1010, "memory": 0}


def resized(desired: str, reported: str, allocated: str, *, reason: str = "Deferred") -> Object:
    """Return a Pod that is being resized in place."""
    status = {"name": "a", "resources": {"requests": {"cpu": reported}}, "allocatedResources": {"cpu": allocated}}
    return {
        "spec": {"containers": [container("a", desired)]},
        "status": {"containerStatuses": [status], "conditions": [{"type": "PodResizePending", "reason": reason}]},
    }


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        (resized("3", "1", "2"), 3000),
        (resized("1", "3", "2"), 3000),
        (resized("1", "2", "3"), 3000),
        (resized("3", "1", "2", reason="Infeasible"), 2000),
    ],
    ids=["wanted", "reported", "allocated", "infeasible"],
)
def test_resize_in_place_counts_the_largest_amount_that_may_be_in_effect(pod: Object, cpu: int) -> None:
    assert requested(pod, in_effect=True) == {"cpu": cpu}
    assert requested(pod) == amounts(pod["spec"]["containers"][0]["resources"]["requests"])


def test_limits_of_a_resize_in_place_count_what_the_node_reports() -> None:
    pod = {
        "spec": {"containers": [container("a", "1", kind="limits")]},
        "status": {"containerStatuses": [{"name": "a", "resources": {"limits": {"cpu": "2"}}}]},
    }
    assert limited(pod, in_effect=True) == {"cpu": 2000}


def test_container_that_the_status_does_not_report_counts_by_its_spec() -> None:
    pod = {"spec": {"containers": [container("a", "1")]}, "status": {"containerStatuses": [{"name": "a"}]}}
    assert requested(pod, in_effect=True) == {"cpu": 1000}
