"""metrics.k8s.io of a server: what clients get, from a kubelet of the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampan.core.clock import unix_time
from sampan.server.resource_metrics.settings import ResourceMetricsSettings
from sampan.streams.tunnels import NodeTunnels
from tests.server.cluster import Api
from tests.server.frame import JANE
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.upstream import ReceivedRequest

PATH = "/apis/metrics.k8s.io/v1beta1"
IN_DEFAULT = f"{PATH}/namespaces/default/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SETTINGS = ResourceMetricsSettings(enabled=True, resolution_s=0.05, first_window_s=0.01, timeout_s=60.0)


class Kubelet:
    """Kubelet of the test. Each response is a second after the last one, with half a second of CPU time."""

    def __init__(self) -> None:
        self.began_s = unix_time()
        self.scrapes = 0
        self.pods = ["p"]
        self.body: bytes | None = None
        self.status = "200 OK"

    async def respond(self, request: ReceivedRequest) -> None:
        """Respond to a scrape."""
        self.scrapes += 1
        body = self.body if self.body is not None else self._text()
        await request.response(body, f"HTTP/1.1 {self.status}\r\n")

    def _text(self) -> bytes:
        time_ms = int((self.began_s + self.scrapes) * 1000)
        lines = [
            f"node_cpu_usage_seconds_total {self.scrapes} {time_ms}",
            f"node_memory_working_set_bytes 2048 {time_ms}",
        ]
        for pod in self.pods:
            labels = f'{{container="c",namespace="default",pod="{pod}"}}'
            lines.append(f"container_cpu_usage_seconds_total{labels} {self.scrapes / 2} {time_ms}")
            lines.append(f"container_memory_working_set_bytes{labels} 1048576 {time_ms}")
            lines.append(f"container_start_time_seconds{labels} {self.began_s - 1000}")
        return "\n".join([*lines, ""]).encode()


@asynccontextmanager
async def measured(folder: Path, kubelet: Kubelet, settings: ResourceMetricsSettings = SETTINGS) -> AsyncIterator[Cell]:
    """Run a server with a Node and its kubelet."""
    async with cell(folder, kubelet.respond, resource_metrics=settings) as made:
        yield made


async def run_pod(made: Cell, name: str = "p", labels: dict[str, str] | None = None) -> None:
    """Add a running Pod."""
    await made.add_pod(name)
    response = await made.api.patch(f"{PODS}/{name}", {"metadata": {"labels": labels or {}}})
    assert response.code == 200, response.body
    response = await made.api.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})
    assert response.code == 200, response.body


def names(document: Any) -> list[str]:
    """Return the names of a list's items."""
    return [item["metadata"]["name"] for item in document["items"]]


async def test_the_first_request_gets_the_usage_of_a_pod(tmp_path: Path) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        await run_pod(made, labels={"app": "web"})
        found = (await made.api.get(f"{IN_DEFAULT}/p")).body
        assert found["metadata"].pop("creationTimestamp")
        assert found.pop("timestamp").endswith("Z")
        assert found == {
            "kind": "PodMetrics",
            "apiVersion": "metrics.k8s.io/v1beta1",
            "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
            "window": "1s",
            "containers": [{"name": "c", "usage": {"cpu": "500m", "memory": "1Mi"}}],
        }


async def test_nodes_have_their_labels_and_usage(tmp_path: Path) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        await made.api.patch("/api/v1/nodes/n1", {"metadata": {"labels": {"zone": "a"}}})
        (found,) = (await made.api.get(f"{PATH}/nodes?labelSelector=zone%3Da")).body["items"]
        assert found["metadata"]["labels"] == {"zone": "a"}
        assert found["usage"] == {"cpu": "1", "memory": "2Ki"}
        assert (await made.api.get(f"{PATH}/nodes?labelSelector=zone%3Db")).body["items"] == []
        assert (await made.api.get(f"{PATH}/nodes/n1")).body["usage"]["cpu"] == "1"


async def test_lists_follow_namespaces_and_selectors(tmp_path: Path) -> None:
    kubelet = Kubelet()
    kubelet.pods = ["b", "a", "unknown"]
    async with measured(tmp_path, kubelet) as made:
        await run_pod(made, "b", {"app": "x"})
        await run_pod(made, "a")
        assert names((await made.api.get(f"{PATH}/pods")).body) == ["a", "b"]
        assert names((await made.api.get(f"{IN_DEFAULT}?labelSelector=app%3Dx")).body) == ["b"]
        assert names((await made.api.get(f"{IN_DEFAULT}?fieldSelector=metadata.name%3Da")).body) == ["a"]
        assert names((await made.api.get(f"{PATH}/namespaces/other/pods")).body) == []


async def test_tables_have_the_columns_of_metrics_server(tmp_path: Path) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        await run_pod(made)
        found = (await made.api.get(f"{PATH}/pods", accept=TABLE)).body
        assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
        assert found["rows"][0]["cells"] == ["p", "500m", "1Mi", "1s"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{IN_DEFAULT}/none", 'pods "none" not found'),
        (f"{IN_DEFAULT}/pending", 'pods.metrics.k8s.io "default/pending" not found'),
        (f"{IN_DEFAULT}/unmeasured", 'pods.metrics.k8s.io "default/unmeasured" not found'),
        (f"{PATH}/nodes/none", 'nodes "none" not found'),
        (f"{PATH}/nodes/n2", 'nodes.metrics.k8s.io "n2" not found'),
    ],
)
async def test_missing_metrics_are_404(tmp_path: Path, path: str, message: str) -> None:
    kubelet = Kubelet()
    kubelet.pods = ["pending"]
    async with measured(tmp_path, kubelet) as made:
        await made.add_pod("pending")
        await run_pod(made, "unmeasured")
        await made.add_node("n2", addresses=[])
        response = await made.api.get(path)
        assert (response.code, response.message) == (404, message)


class OpenWay:
    """Tunnel of a node that records its connections, and lets them go the direct way."""

    is_open = True

    def __init__(self) -> None:
        self.ports: list[int] = []

    async def connect(self, make: Any, host: str, port: int, **_: Any) -> None:
        """Record the port."""
        self.ports.append(port)


async def test_a_node_is_scraped_through_its_tunnel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        way = OpenWay()
        monkeypatch.setattr(NodeTunnels, "to", lambda tunnels, node, *, kubelet: way)
        assert names((await made.api.get(f"{PATH}/nodes")).body) == ["n1"]
        assert way.ports[0] == made.kubelet.port


async def test_metrics_are_not_scraped_before_a_client_requests_them(tmp_path: Path) -> None:
    kubelet = Kubelet()
    async with measured(tmp_path, kubelet) as made:
        assert (await made.api.get(PATH)).code == 200
        assert kubelet.scrapes == 0
        await made.api.get(f"{PATH}/nodes")
        assert kubelet.scrapes >= 2


async def test_scrapes_end_after_the_last_request_for_metrics(tmp_path: Path) -> None:
    kubelet = Kubelet()
    settings = replace(SETTINGS, resolution_s=0.01, idle_after_s=0.05)
    async with measured(tmp_path, kubelet, settings) as made:
        assert names((await made.api.get(f"{PATH}/nodes")).body) == ["n1"]
        async with asyncio.timeout(60):
            while made.api.server.scraper.history.nodes():  # noqa: ASYNC110 - the scraper reports no end
                await asyncio.sleep(0.01)
        scrapes = kubelet.scrapes
        assert names((await made.api.get(f"{PATH}/nodes")).body) == ["n1"]
        assert kubelet.scrapes >= scrapes + 2


@pytest.mark.parametrize("fault", ["status", "too long", "no address"])
async def test_a_node_without_usable_metrics_does_not_hide_the_rest(tmp_path: Path, fault: str) -> None:
    kubelet = Kubelet()
    settings = ResourceMetricsSettings(
        True,
        resolution_s=0.05,
        first_window_s=0.01,
        timeout_s=60.0,
        body_bytes_max=10 if fault == "too long" else 10**6,
    )
    if fault == "status":
        kubelet.status = "403 Forbidden"
    async with measured(tmp_path, kubelet, settings) as made:
        await made.add_node("n2", addresses=[])
        expected = ["n1"] if fault == "no address" else []
        assert names((await made.api.get(f"{PATH}/nodes")).body) == expected


async def test_users_need_the_right_to_read_metrics(tmp_path: Path) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        await run_pod(made)
        jane = Api(made.api.server, JANE)
        for path in (f"{PATH}/nodes", f"{PATH}/nodes/n1", f"{PATH}/pods", IN_DEFAULT, f"{IN_DEFAULT}/p"):
            assert (await jane.get(path)).code == 403
        role = (
            await made.api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader")
        ).body
        assert role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
        assert role["rules"] == [
            {"apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}
        ]


async def test_discovery_lists_the_group_and_no_apiservice_stands_in_the_way(tmp_path: Path) -> None:
    async with measured(tmp_path, Kubelet()) as made:
        found = (await made.api.get(PATH)).body["resources"]
        assert [(each["name"], each["kind"], each["namespaced"], each["verbs"]) for each in found] == [
            ("nodes", "NodeMetrics", False, ["get", "list"]),
            ("pods", "PodMetrics", True, ["get", "list"]),
        ]
        groups = (await made.api.get("/apis")).body["groups"]
        assert "metrics.k8s.io" in [group["name"] for group in groups]
        path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io"
        assert (await made.api.get(path)).code == 404


async def test_an_apiservice_with_a_service_takes_over_until_it_is_deleted(tmp_path: Path) -> None:
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    spec = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics-server", "namespace": "kube-system"},
    }
    async with measured(tmp_path, Kubelet()) as made:
        for _ in range(2):
            await until_code(made, 200)
            await made.api.create(services, {"metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": spec})
            await until_code(made, 503)
            assert (await made.api.delete(f"{services}/v1beta1.metrics.k8s.io")).code == 200
        await until_code(made, 200)


async def until_code(made: Cell, code: int) -> None:
    """Wait until requests for the metrics of nodes get this code."""
    async with asyncio.timeout(60):
        while (await made.api.get(f"{PATH}/nodes")).code != code:  # noqa: ASYNC110 - each turn is a request
            await asyncio.sleep(0.01)


async def test_a_server_without_the_option_serves_no_metrics(tmp_path: Path) -> None:
    async with cell(tmp_path, Kubelet().respond) as made:
        assert (await made.api.get(f"{PATH}/nodes")).code == 404
        assert (await made.api.get(PATH)).code == 404
