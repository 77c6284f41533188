"""The condition Available."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.server.aggregation.cell import GROUP, ITEM, PATH, Cell, cell, legacy
from tests.server.proxy.upstream import ReceivedRequest

NAME = f"v1.{GROUP}"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


async def endpoint_slice(here: Cell, *, port: str = "https", ready: bool = True) -> None:
    """A slice of the service."""
    labels = {"kubernetes.io/service-name": "metrics"}
    await here.api.create(
        SLICES,
        {
            "metadata": {"name": "metrics-1", "labels": labels},
            "addressType": "IPv4",
            "ports": [{"name": port, "port": 4443}],
            "endpoints": [{"addresses": ["192.0.2.7"], "conditions": {"ready": ready}}],
        },
    )


async def cluster_ip(here: Cell, port: int) -> None:
    """A service with a cluster IP."""
    await here.service(ports=[{"name": "https", "port": port, "targetPort": 4443}])


async def nothing(here: Cell) -> None:
    """No service."""


async def another_port(here: Cell) -> None:
    await cluster_ip(here, 444)


async def no_slices(here: Cell) -> None:
    await cluster_ip(here, 443)


async def not_ready(here: Cell) -> None:
    await cluster_ip(here, 443)
    await endpoint_slice(here, ready=False)


async def other_name(here: Cell) -> None:
    await cluster_ip(here, 443)
    await endpoint_slice(here, port="http")


@pytest.mark.parametrize(
    ("prepare", "reason", "message"),
    [
        (nothing, "ServiceNotFound", 'service/metrics in "default" is not present'),
        (another_port, "ServicePortError", 'service/metrics in "default" is not listening on port 443'),
        (no_slices, "EndpointsNotFound", 'cannot find endpointslices for service/metrics in "default"'),
        (
            not_ready,
            "MissingEndpoints",
            'endpointslices for service/metrics in "default" have no addresses with port name "https"',
        ),
        (
            other_name,
            "MissingEndpoints",
            'endpointslices for service/metrics in "default" have no addresses with port name "https"',
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_faults_of_the_service_are_reported(tmp_path: Path, prepare: Any, reason: str, message: str) -> None:
    async with cell(tmp_path) as here:
        await prepare(here)
        await here.api_service(port=443)
        condition = await here.condition(reason)
        assert (condition["status"], condition["message"]) == ("False", message)
        assert here.backend.requested == []


async def test_it_is_looked_again_when_service_or_endpoints_change(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.api_service(port=443)
        await here.condition("ServiceNotFound")
        await cluster_ip(here, 443)
        await here.condition("EndpointsNotFound")
        await endpoint_slice(here, ready=False)
        await here.condition("MissingEndpoints")
        assert (await here.api.delete("/api/v1/namespaces/default/services/metrics")).code == 200
        await here.condition("ServiceNotFound")
        await here.service()
        await here.api.patch(ITEM, {"spec": {"service": {"port": here.backend.port}}})
        condition = await here.condition("Passed")
        assert (condition["status"], condition["message"]) == ("True", "all checks passed")


async def test_a_backend_is_called_as_the_aggregator(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        requested = here.requests(PATH)[0]
        reported = [line for line in requested.lines if line[0].startswith("X-Remote")]
        assert reported == [("X-Remote-User", "system:kube-aggregator"), ("X-Remote-Group", "system:masters")]


async def test_a_backend_that_refuses_is_tried_again_until_it_does_not(tmp_path: Path) -> None:
    open_ = asyncio.Event()

    async def response(requested: ReceivedRequest) -> None:
        if open_.is_set():
            await legacy(requested)
        else:
            await requested.response(b"no", "HTTP/1.1 403 Forbidden\r\n")

    async with cell(tmp_path, response) as here:
        await here.service()
        await here.api_service()
        condition = await here.condition("FailedDiscoveryCheck")
        url = f"https://localhost:{here.backend.port}{PATH}"
        assert condition["message"] == f"failing or missing response from {url}: bad status from {url}: 403"
        since = condition["lastTransitionTime"]
        open_.set()
        condition = await here.condition("Passed")
        assert condition["status"] == "True"
        assert condition["lastTransitionTime"] >= since


async def test_metrics_report_of_an_api_service_that_is_lost(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        assert f'aggregator_unavailable_apiservice{{name="{NAME}"}} 0.0' in await metrics_of(here)
        await here.api.delete("/api/v1/namespaces/default/services/metrics")
        await here.condition("ServiceNotFound")
        text = await metrics_of(here)
        assert f'aggregator_unavailable_apiservice{{name="{NAME}"}} 1.0' in text
        assert f'aggregator_unavailable_apiservice_total{{name="{NAME}",reason="ServiceNotFound"}} 1.0' in text


async def metrics_of(here: Cell) -> str:
    return (await here.api.client.get("/metrics")).body.decode()


async def test_no_client_at_the_port_is_reported(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.service()
        await here.api_service(port=1)
        message = (await here.condition("FailedDiscoveryCheck"))["message"]
        url = f"https://localhost:1{PATH}"
        dialled = url.removeprefix("https://").partition("/")[0]
        text = f'failing or missing response from {url}: Get "{url}": dial tcp {dialled}: connect: connection refused'
        assert message == text


async def test_one_available_endpoint_is_enough(tmp_path: Path) -> None:
    tries = 0

    async def response(requested: ReceivedRequest) -> None:
        nonlocal tries
        tries += requested.target == PATH
        if requested.target == PATH and tries < 5:
            await requested.response(b"no", "HTTP/1.1 500 Internal Server Error\r\n")
        else:
            await legacy(requested)

    async with cell(tmp_path, response) as here:
        await here.available()
