"""Tests of autoscalers on a server, with metrics set by the tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import Client
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, PODS
from sampan.component_base.views import POD_VIEW
from sampan.controllers import horizontal_pod_autoscaler
from sampan.controllers.horizontal_pod_autoscaler.controller import HorizontalController
from sampan.core.time import SystemClock
from sampan.operator.request import Request
from sampan.testing.servers.in_process import InProcessTransport
from tests.controllers.cluster import WAIT_S, Working, working
from tests.controllers.horizontal_pod_autoscaler.metrics_api import MetricsApis, now
from tests.server.cluster import served
from tests.server.frame import MASTER

LABELS = {"app": "web"}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


@asynccontextmanager
async def autoscaled() -> AsyncIterator[tuple[Working, MetricsApis]]:
    """A cluster with the autoscaler, and its metrics."""
    async with served() as api:
        apis = MetricsApis(InProcessTransport(api.server.handler, headers={**MASTER, "user-agent": "tests/1"}))
        client = Client(apis, field_manager="tests")
        async with client, working(client, horizontal_pod_autoscaler.set_up) as cluster:
            yield cluster, apis


async def deploy(cluster: Working, replicas: int, name: str = "web") -> None:
    """A Deployment with Pods that have been ready for long."""
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [container]}},
    }
    await cluster.create(DEPLOYMENTS, {"metadata": {"name": name}, "spec": spec})
    for number in range(replicas):
        pod = {"metadata": {"name": f"{name}-{number}", "labels": LABELS}, "spec": {"containers": [container]}}
        await cluster.make_ready(await cluster.create(PODS, pod))
        await cluster.patch_status(PODS, f"{name}-{number}", {"startTime": "2020-01-01T00:00:00Z"})
    # The autoscaler reconciles once, and then only after a while, so its cache must have all objects by now.
    known = cluster.manager.informer_for(POD_VIEW).indexer
    async with asyncio.timeout(WAIT_S):
        while True:
            if sum(ref.decode().status.start_time is not None for ref in known.refs()) == replicas:
                return
            await asyncio.sleep(0.005)


async def autoscale(cluster: Working, *metrics: Any, name: str = "web", **spec: Any) -> None:
    """An autoscaler of the Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 10, "metrics": list(metrics), **spec}
    await cluster.create(HORIZONTAL_POD_AUTOSCALERS, {"metadata": {"name": name}, "spec": spec})


def condition(hpa: Any, type: str) -> Any:
    """A condition of the status."""
    conditions = hpa.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == type), {})


async def test_a_deployment_is_scaled_up_by_its_cpu() -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 2)
        apis.use({"web-0": "900m", "web-1": "900m"})
        await autoscale(cluster, CPU)
        await cluster.until(DEPLOYMENTS, "web", lambda obj: obj["spec"]["replicas"] == 4)
        hpa = await cluster.until(HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: obj["status"].get("lastScaleTime"))
        status = hpa["status"]
        assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 4)
        current = status["currentMetrics"][0]["resource"]
        assert current == {"name": "cpu", "current": {"averageUtilization": 90, "averageValue": "900m"}}
        assert condition(hpa, "AbleToScale")["reason"] == "SucceededRescale"
        assert condition(hpa, "ScalingActive")["reason"] == "ValidMetricFound"
        assert condition(hpa, "ScalingLimited") == condition(hpa, "ScalingLimited") | {
            "status": "False",
            "reason": "DesiredWithinRange",
        }
        events = await cluster.events("SuccessfulRescale")
        assert events[0]["message"] == (
            "New size: 4; reason: cpu resource utilization (percentage of request) above target"
        )


async def test_missing_metrics_are_reported_and_nothing_is_scaled() -> None:
    async with autoscaled() as (cluster, _):
        await deploy(cluster, 1)
        await autoscale(cluster, CPU)
        hpa = await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: condition(obj, "ScalingActive").get("status") == "False"
        )
        active = condition(hpa, "ScalingActive")
        assert active["reason"] == "FailedGetResourceMetric"
        assert active["message"].startswith(
            "the HPA was unable to compute the replica count: failed to get cpu resource metric value: "
            "failed to get cpu utilization: unable to get metrics for resource cpu: "
            "unable to fetch metrics from resource metrics API:"
        )
        assert (await cluster.get(DEPLOYMENTS, "web"))["spec"]["replicas"] == 1
        assert await cluster.events("FailedComputeMetricsReplicas")


async def test_a_missing_target_is_reported() -> None:
    async with autoscaled() as (cluster, _):
        await autoscale(cluster, CPU)
        hpa = await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: condition(obj, "AbleToScale").get("status") == "False"
        )
        assert condition(hpa, "AbleToScale")["message"] == (
            'the HPA controller was unable to get the target\'s current scale: deployments.apps "web" not found'
        )


async def test_two_autoscalers_of_the_same_pods_conflict() -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 1)
        apis.use({"web-0": "500m"})
        await autoscale(cluster, CPU)
        await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: condition(obj, "ScalingActive").get("status") == "True"
        )
        await autoscale(cluster, CPU, name="other")
        hpa = await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "other", lambda obj: condition(obj, "ScalingActive").get("status") == "False"
        )
        assert condition(hpa, "ScalingActive")["reason"] == "AmbiguousSelector"


async def test_a_target_with_zero_replicas_is_not_scaled() -> None:
    async with autoscaled() as (cluster, _):
        await deploy(cluster, 0)
        await autoscale(cluster, CPU)
        hpa = await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: condition(obj, "ScalingActive").get("status") == "False"
        )
        assert condition(hpa, "ScalingActive")["reason"] == "ScalingDisabled"


async def test_the_unchanged_status_of_a_target_with_zero_replicas_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 0)
        await autoscale(cluster, CPU)
        await cluster.until(
            HORIZONTAL_POD_AUTOSCALERS, "web", lambda obj: condition(obj, "ScalingActive").get("status") == "False"
        )
        written: list[str] = []
        send = apis.send

        async def recorded(request: HttpRequest) -> HttpResponse:
            written.extend([request.target] if request.method == "PATCH" and "/status" in request.target else [])
            return await send(request)

        monkeypatch.setattr(apis, "send", recorded)
        controller = HorizontalController(ControllerContext(cluster.manager, SystemClock()))
        await controller.reconcile(Request("default", "web"))
        assert written == []


async def test_a_target_above_the_maximum_is_scaled_down_without_metrics() -> None:
    async with autoscaled() as (cluster, _):
        await deploy(cluster, 3)
        await autoscale(cluster, CPU, maxReplicas=2)
        await cluster.until(DEPLOYMENTS, "web", lambda obj: obj["spec"]["replicas"] == 2)


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
async def test_a_pods_metric_scales_the_target(version: str) -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 1)
        items = [{"describedObject": {"name": "web-0"}, "timestamp": now(), "value": "30"}]
        apis.publish(f"custom.metrics.k8s.io/{version}/namespaces/default/pods/*/queue", items)
        target = {"type": "AverageValue", "averageValue": "10"}
        await autoscale(cluster, {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": target}})
        await cluster.until(DEPLOYMENTS, "web", lambda obj: obj["spec"]["replicas"] == 3)


async def test_an_object_metric_scales_the_target() -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 1)
        apis.publish(
            "custom.metrics.k8s.io/v1beta2/namespaces/default/services/front/rate",
            [{"describedObject": {"name": "front"}, "timestamp": now(), "value": "4k"}],
        )
        source = {
            "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "front"},
            "metric": {"name": "rate"},
            "target": {"type": "Value", "value": "1k"},
        }
        await autoscale(cluster, {"type": "Object", "object": source})
        await cluster.until(DEPLOYMENTS, "web", lambda obj: obj["spec"]["replicas"] == 4)


async def test_the_highest_proposal_of_several_metrics_counts() -> None:
    async with autoscaled() as (cluster, apis):
        await deploy(cluster, 1)
        apis.use({"web-0": "600m"})
        apis.publish(
            "external.metrics.k8s.io/v1beta1/namespaces/default/jobs",
            [{"value": "20", "timestamp": now()}, {"value": "20", "timestamp": now()}],
        )
        source = {"metric": {"name": "jobs"}, "target": {"type": "Value", "value": "10"}}
        await autoscale(cluster, CPU, {"type": "External", "external": source})
        await cluster.until(DEPLOYMENTS, "web", lambda obj: obj["spec"]["replicas"] == 4)
        events = await cluster.events("SuccessfulRescale")
        assert events[0]["message"] == "New size: 4; reason: external metric jobs above target"
