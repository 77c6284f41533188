"""EndpointSlices may have any number as a port. The server then fails as it does for every unreachable endpoint."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.admission.policy.policies import EVERY_MAP, GROUP, MAPS, config_map
from tests.server.cluster import Api, served

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
SERVICES = "/api/v1/namespaces/default/services"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
PORTS = pytest.mark.parametrize("port", [-5, 65_536, 2**31 - 1])
REFERENCE = {"namespace": "default", "name": "s", "port": 443}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as found:
        yield found


async def service(api: Api, port: int) -> None:
    """A Service whose endpoint has this port. Nothing is sent to the address."""
    await api.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 443, "name": "a"}]}})
    made = {
        "metadata": {"name": "s", "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "ports": [{"port": port, "name": "a"}],
        "endpoints": [{"addresses": ["192.0.2.9"]}],
    }
    await api.create(SLICES, made)


def webhook(policy: str) -> dict[str, Any]:
    hook = {
        "name": "a.example.com",
        "clientConfig": {"service": REFERENCE},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": policy,
        "rules": [EVERY_MAP],
    }
    return {"metadata": {"name": "a"}, "webhooks": [hook]}


@PORTS
async def test_webhook_fails_by_its_policy(api: Api, port: int) -> None:
    await service(api, port)
    path = f"{GROUP}/validatingwebhookconfigurations"
    await api.create(path, webhook("Ignore"))
    await api.create(MAPS, config_map())
    await api.delete(f"{path}/a")
    await api.create(path, webhook("Fail"))
    response = await api.post(MAPS, config_map("b"))
    assert response.code == 500
    assert response.message.startswith('Internal error occurred: failed calling webhook "a.example.com": ')
    assert f"address {port}: invalid port" in response.message


@PORTS
async def test_api_service_is_unavailable_with_the_reason(api: Api, port: int) -> None:
    await service(api, port)
    spec = {"group": "x.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 1}
    made = {**spec, "insecureSkipTLSVerify": True, "service": REFERENCE}
    await api.create(API_SERVICES, {"metadata": {"name": "v1.x.example.com"}, "spec": made})
    async with api.watch(f"{API_SERVICES}?watch=true&fieldSelector=metadata.name=v1.x.example.com") as watch:
        while not (found := (await watch.event())["object"]).get("status"):
            continue
    [condition] = found["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "FailedDiscoveryCheck")
    assert "invalid port" in condition["message"]
    assert (await api.get("/apis/x.example.com/v1/things")).code == 503
