"""JSON and text documents of a node's server."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.node.server.fakes import MEASURED_S, POD
from tests.node.server.served import node

RESOURCES = """\
container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1.5
container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 4096
container_start_time_seconds{container="main",namespace="default",pod="web"} 1767323045.0
pod_cpu_usage_seconds_total{namespace="default",pod="web"} 1.5
pod_memory_working_set_bytes{namespace="default",pod="web"} 4096
resource_scrape_error 0
scrape_error 0
"""


async def test_pods_are_listed_with_all_fields() -> None:
    async with node() as served:
        code, body = await served.get("/pods")
        assert code == 200
        expected = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "web"}}]}
        assert json.loads(body) == expected


async def test_running_pods_are_listed_with_their_containers() -> None:
    async with node() as served:
        _, body = await served.get("/runningpods/")
        (item,) = json.loads(body)["items"]
        assert item["metadata"] == {"name": "web", "namespace": "default", "uid": "u-1"}
        assert item["spec"] == {"containers": [{"name": "main", "image": "host", "resources": {}}]}


async def test_resource_metrics_cover_containers_pods_and_the_node() -> None:
    async with node() as served:
        _, body = await served.get("/metrics/resource")
        lines = [line for line in body.decode().splitlines() if not line.startswith("#")]
        node_lines = [line for line in lines if line.startswith("node_")]
        assert [line.split()[0] for line in node_lines] == [
            "node_cpu_usage_seconds_total",
            "node_memory_working_set_bytes",
        ]
        untimed = [" ".join(line.split()[:2]) for line in lines if line not in node_lines]
        assert untimed == RESOURCES.splitlines()


async def test_metrics_of_containers_have_the_names_of_cadvisor() -> None:
    async with node() as served:
        status, body = await served.get("/metrics/cadvisor")
    lines = body.decode().splitlines()
    found = {line.partition("{")[0] for line in lines if 'container="main"' in line}
    assert status == 200
    assert found == {
        "container_cpu_usage_seconds_total",
        "container_fs_usage_bytes",
        "container_memory_rss",
        "container_memory_usage_bytes",
        "container_memory_working_set_bytes",
        "container_start_time_seconds",
    }
    [cpu] = [line for line in lines if line.startswith("container_cpu") and 'container="main"' in line]
    assert 'cpu="total"' in cpu
    assert 'image="host"' in cpu
    assert 'namespace="default",pod="web"' in cpu
    assert any(line.startswith("machine_memory_bytes ") for line in lines)


async def test_traffic_of_a_pod_has_the_names_of_cadvisor() -> None:
    async with node() as served:
        _, body = await served.get("/metrics/cadvisor")
    labels = 'container="",id="/kubepods/podu-1",image="",interface="eth0",name="",namespace="default",pod="web"'
    found = [line for line in body.decode().splitlines() if line.startswith("container_network_")]
    assert found == [
        f"container_network_receive_bytes_total{{{labels}}} 1000",
        f"container_network_receive_errors_total{{{labels}}} 1",
        f"container_network_transmit_bytes_total{{{labels}}} 500",
        f"container_network_transmit_errors_total{{{labels}}} 0",
    ]


async def test_values_have_the_time_of_their_measurement() -> None:
    async with node() as served:
        _, body = await served.get("/metrics/resource")
        _, shown = await served.get("/stats/summary")
    values = [line for line in body.decode().splitlines() if 'pod="web"' in line and "start_time" not in line]
    assert {line.split()[2] for line in values} == {str(round(MEASURED_S * 1000))}
    (pod,) = json.loads(shown)["pods"]
    assert pod["containers"][0]["cpu"]["time"] == "2026-01-02T03:05:00Z"


async def test_summary_has_memory_and_traffic_of_a_pod() -> None:
    async with node() as served:
        _, body = await served.get("/stats/summary")
    (pod,) = json.loads(body)["pods"]
    assert (pod["memory"]["usageBytes"], pod["memory"]["rssBytes"]) == (8192, 2048)
    assert (pod["network"]["name"], pod["network"]["rxBytes"], pod["network"]["txBytes"]) == ("eth0", 1000, 500)
    assert [each["name"] for each in pod["network"]["interfaces"]] == ["eth0"]


async def test_summary_has_the_same_values() -> None:
    async with node() as served:
        _, body = await served.get("/stats/summary")
        found = json.loads(body)
        assert found["node"]["nodeName"] == "node-1"
        assert found["node"]["memory"]["workingSetBytes"] > 0
        (pod,) = found["pods"]
        assert pod["podRef"] == {"name": "web", "namespace": "default", "uid": "u-1"}
        assert pod["startTime"] == "2026-01-02T03:04:05Z"
        assert pod["containers"][0]["name"] == "main"
        assert pod["containers"][0]["cpu"]["usageCoreNanoSeconds"] == 1_500_000_000


@pytest.mark.parametrize(
    ("target", "code", "text"),
    [
        ("/healthz", 200, b"ok"),
        ("/healthz/ping", 200, b"ok"),
        ("/healthz/none", 404, b"404 page not found"),
        ("/configz", 200, b'{"kubeletconfig":{"port":10250}}'),
        ("/metrics", 200, b"process_resident_memory_bytes"),
        ("/", 404, b"404 page not found"),
        ("/containerLogs/default/web", 404, b"404 page not found"),
    ],
    ids=["healthz", "ping", "no check", "configz", "metrics", "nothing", "short"],
)
async def test_other_paths_have_responses(target: str, code: int, text: bytes) -> None:
    async with node() as served:
        found, body = await served.get(target)
        assert (found, text in body) == (code, True)


async def test_documents_are_read_only() -> None:
    async with node() as served:
        assert (await served.get("/pods", method="POST"))[0] == 405


VOLUME: Mapping[str, Any] = {
    "name": "data",
    "pvcRef": {"name": "c", "namespace": "default"},
    "capacityBytes": 1 << 30,
    "availableBytes": 1000,
    "usedBytes": 24,
    "inodes": 100,
    "inodesFree": 60,
    "inodesUsed": 40,
}
VOLUME_METRICS = """\
kubelet_volume_stats_capacity_bytes{namespace="default",persistentvolumeclaim="c"} 1.073741824e+09
kubelet_volume_stats_available_bytes{namespace="default",persistentvolumeclaim="c"} 1000.0
kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="c"} 24.0
kubelet_volume_stats_inodes{namespace="default",persistentvolumeclaim="c"} 100.0
kubelet_volume_stats_inodes_free{namespace="default",persistentvolumeclaim="c"} 60.0
kubelet_volume_stats_inodes_used{namespace="default",persistentvolumeclaim="c"} 40.0
"""


async def volume_metrics(*volumes: Mapping[str, Any]) -> str:
    """Return the metrics of volumes of the only Pod."""
    async with node(volume_stats=lambda uid: volumes if uid == POD.metadata.uid else ()) as served:
        _, body = await served.get("/metrics")
    return "".join(f"{line}\n" for line in body.decode().splitlines() if line.startswith("kubelet_volume"))


async def test_metrics_have_the_figures_of_the_volumes_of_claims() -> None:
    assert await volume_metrics(VOLUME, {"name": "inline", "capacityBytes": 1}) == VOLUME_METRICS


async def test_a_claim_counts_once_in_the_metrics() -> None:
    assert await volume_metrics(VOLUME, {**VOLUME, "usedBytes": 25}) == VOLUME_METRICS


async def test_figures_that_a_driver_does_not_have_are_left_out_of_the_metrics() -> None:
    expected = 'kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="c"} 24.0\n'
    assert await volume_metrics({"pvcRef": VOLUME["pvcRef"], "usedBytes": 24}) == expected
