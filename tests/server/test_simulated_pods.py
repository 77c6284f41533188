"""No address of a Pod on a simulated Node is dialled: each way to make the server connect to a Pod is tried.

The addresses are not from the range of simulated Pods, so only the Node shows that a Pod is simulated.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sampan.server.proxy.upstreams import UpstreamSettings
from tests.dialling import loopback_only
from tests.server.admission.webhook.hooks import MAPS, config_map, configure, hook
from tests.server.aggregation import cell as aggregation
from tests.server.cluster import Api, served
from tests.server.conversion_webhook import SHIRTS_2, defined
from tests.server.custom_resources import CRDS, SHIRTS, shirt

__all__ = ["loopback_only"]
pytestmark = pytest.mark.usefixtures("loopback_only")

ADDRESS = "198.51.100.7"
"""Address for documentation, which this machine must not connect to."""
REAL = "127.0.0.1"
REMEDY = "to run its containers, start the node with --node-runtime process or cri"
SERVICE: dict[str, Any] = {"service": {"namespace": "default", "name": "metrics", "port": 443}}
DEFAULT = "/api/v1/namespaces/default"
INFO = (
    *("architecture", "bootID", "kernelVersion", "kubeProxyVersion", "kubeletVersion"),
    *("machineID", "operatingSystem", "osImage", "systemUUID"),
)
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served(proxy=UpstreamSettings(allow_loopback=True)) as found:
        await simulate(found)
        yield found


async def simulate(api: Api, *, reported: bool = True) -> None:
    """Create a simulated Node, a Pod of it, and a Service of the Pod. `reported`: the Node's agent has reported."""
    await api.create("/api/v1/nodes", {"metadata": {"name": "sim", "labels": {"sampan.dev/runtime": "simulated"}}})
    status: dict[str, Any] = {"addresses": [{"type": "InternalIP", "address": REAL}]}
    if reported:
        version = {"containerRuntimeVersion": "simulated://1.0.0"}
        status["nodeInfo"] = dict.fromkeys(INFO, "x") | version
    response = await api.patch("/api/v1/nodes/sim/status", {"status": status})
    assert response.code == 200, response.message
    spec = {"nodeName": "sim", "containers": [{"name": "c", "image": "i"}]}
    await api.create(f"{DEFAULT}/pods", {"metadata": {"name": "p"}, "spec": spec})
    addresses = {"podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}]}
    await api.patch(f"{DEFAULT}/pods/p/status", {"status": addresses})
    await api.create(f"{DEFAULT}/services", {"metadata": {"name": "metrics"}, "spec": {"ports": [{"port": 443}]}})
    target = {"kind": "Pod", "namespace": "default", "name": "p"}
    labels = {"kubernetes.io/service-name": "metrics"}
    endpoint = {"addresses": [ADDRESS], "nodeName": "sim", "targetRef": target}
    slice = {"addressType": "IPv4", "endpoints": [endpoint], "ports": [{"name": "", "port": 443}]}
    await api.create(SLICES, {"metadata": {"name": "metrics-1", "labels": labels}, **slice})
    subset = {"addresses": [{"ip": ADDRESS, "targetRef": target}], "ports": [{"port": 443}]}
    await api.create(f"{DEFAULT}/endpoints", {"metadata": {"name": "metrics"}, "subsets": [subset]})


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
async def test_an_admission_webhook(api: Api, kind: str) -> None:
    await configure(api, kind, hook(clientConfig=SERVICE, failurePolicy="Fail"))
    response = await api.post(MAPS, config_map())
    expected = f'every pod of service "metrics" is simulated and has no network: {REMEDY}'
    assert (response.code, response.message.endswith(f": {expected}")) == (500, True), response.message


async def test_a_conversion_webhook(api: Api) -> None:
    await api.create(CRDS, defined(**SERVICE))
    await api.create(SHIRTS, shirt("s", {"hostPort": "a:80"}))
    response = await api.get(f"{SHIRTS_2}/s")
    assert (response.code, REMEDY in response.message) == (500, True), response.message


@pytest.mark.parametrize("reported", [True, False], ids=["reported", "label only"])
async def test_an_api_service(tmp_path: Path, reported: bool) -> None:
    async with aggregation.cell(tmp_path) as here:
        await simulate(here.api, reported=reported)
        await here.api_service(port=443)
        assert REMEDY in (await here.condition("FailedDiscoveryCheck"))["message"]
        response = await here.api.get(f"{aggregation.PATH}/things")
        assert response.code == 503


@pytest.mark.parametrize("path", [f"{DEFAULT}/pods/p:80", f"{DEFAULT}/services/metrics", "/api/v1/nodes/sim:80"])
async def test_a_proxy(api: Api, path: str) -> None:
    response = await api.get(f"{path}/proxy/")
    assert (response.code, response.message.endswith(f"is simulated and has no network: {REMEDY}")) == (503, True)
