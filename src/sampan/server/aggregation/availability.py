"""Availability of the backend of an APIService, for the condition Available.

Source: kube-aggregator pkg/controllers/status/{local,remote} (1.36).
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.object import Object
from sampan.server.aggregation.api_service import AVAILABLE, ApiService, ServiceReference
from sampan.server.aggregation.backend_client import BackendClient, BackendError

ATTEMPTS = 5
_SERVICE_NAME = "kubernetes.io/service-name"


class Objects(Protocol):
    """Source of Services and their endpoints."""

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None: ...

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]: ...


@dataclass(frozen=True, slots=True)
class AvailabilityResult:
    """Result of a check."""

    available: bool
    reason: str
    message: str
    retry: bool = False
    """True to check again soon, because the fault may disappear without a change of objects."""

    def condition(self, now: str) -> dict[str, Any]:
        """Return the condition, with `now` as the time of transition."""
        status = "True" if self.available else "False"
        return {
            "type": AVAILABLE,
            "status": status,
            "lastTransitionTime": now,
            "reason": self.reason,
            "message": self.message,
        }


LOCAL = AvailabilityResult(True, "Local", "Local APIServices are always available")
PASSED = AvailabilityResult(True, "Passed", "all checks passed")


async def check(api_service: ApiService, objects: Objects, client: BackendClient) -> AvailabilityResult:
    """Check the Service and its endpoints, then request the discovery of the group version."""
    if api_service.service is None:
        return LOCAL
    return _fault(api_service.service, objects) or await _discovered(api_service, client)


def _fault(desired: ServiceReference, objects: Objects) -> AvailabilityResult | None:
    """Return the fault of the objects, or None."""
    place = f'service/{desired.name} in "{desired.namespace}"'
    service = objects.get("", "services", desired.namespace, desired.name)
    if service is None:
        return AvailabilityResult(False, "ServiceNotFound", f"{place} is not present")
    spec = service.get("spec") or {}
    if spec.get("type", "ClusterIP") != "ClusterIP":
        return None
    port = next((port for port in spec.get("ports") or () if port.get("port") == desired.port), None)
    if port is None:
        return AvailabilityResult(False, "ServicePortError", f"{place} is not listening on port {desired.port}")
    slices = [
        each for each in objects.list("discovery.k8s.io", "endpointslices", desired.namespace) if _of(each, desired)
    ]
    if not slices:
        return AvailabilityResult(False, "EndpointsNotFound", f"cannot find endpointslices for {place}")
    name = port.get("name") or ""
    if not any(_ready(each, name) for each in slices):
        text = f'endpointslices for {place} have no addresses with port name "{name}"'
        return AvailabilityResult(False, "MissingEndpoints", text)
    return None


def _of(endpoint_slice: Object, desired: ServiceReference) -> bool:
    return bool((endpoint_slice["metadata"].get("labels") or {}).get(_SERVICE_NAME) == desired.name)


def _ready(endpoint_slice: Object, port_name: str) -> bool:
    endpoints = endpoint_slice.get("endpoints") or ()
    if not any((each.get("conditions") or {}).get("ready") is not False for each in endpoints):
        return False
    ports = endpoint_slice.get("ports") or ()
    return any((port.get("name") or "") == port_name and port.get("port") is not None for port in ports)


async def _discovered(api_service: ApiService, client: BackendClient) -> AvailabilityResult:
    """Send several discovery requests concurrently, because there may be several endpoints. One success is enough."""
    text = ""
    async with TaskScope() as tasks:
        for attempt in asyncio.as_completed([tasks.begin(_attempt(api_service, client)) for _ in range(ATTEMPTS)]):
            text = await attempt
            if not text:
                return PASSED
    return AvailabilityResult(False, "FailedDiscoveryCheck", text, retry=True)


async def _attempt(api_service: ApiService, client: BackendClient) -> str:
    """Send one discovery request. Return the fault, or an empty string."""
    try:
        response = await client.get(api_service, api_service.path, {"accept": "application/json"}, body_bytes_max=0)
    except BackendError as error:
        url = str(error).partition('"')[2].partition('"')[0]
        return f"failing or missing response from {url}: {error}" if url else str(error)
    if 200 <= response.status < 300:
        return ""
    return f"failing or missing response from {response.url}: bad status from {response.url}: {response.status}"
