"""`ApiService`: a parsed APIService object, cached for each revision.

Source: kube-aggregator pkg/apis/apiregistration/v1/types.go, helpers.go (1.36).
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from sampan.core.object import Object

GROUP = "apiregistration.k8s.io"
RESOURCE = "apiservices"
AVAILABLE = "Available"


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """Service that provides a group version."""

    namespace: str
    name: str
    port: int

    @property
    def host(self) -> str:
        """Return the server name of the certificate."""
        return f"{self.name}.{self.namespace}.svc"


@dataclass(frozen=True, slots=True)
class ApiService:
    """One group version and its backend."""

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: ServiceReference | None
    """Service of the backend; None for this server."""
    ca_pem: str = ""
    """CAs of the backend's certificate; empty for the system's CAs."""
    insecure: bool = False
    """Do not verify the backend's certificate."""
    available: bool = False

    @property
    def path(self) -> str:
        """Return the root path of the group version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def api_service_of(obj: Object) -> ApiService:
    """Parse a validated APIService."""
    spec: dict[str, Any] = obj["spec"]
    reference = spec.get("service")
    service = (
        ServiceReference(reference["namespace"], reference["name"], reference.get("port") or 443) if reference else None
    )
    return ApiService(
        obj["metadata"]["name"],
        spec.get("group") or "",
        spec["version"],
        spec.get("groupPriorityMinimum") or 0,
        spec.get("versionPriority") or 0,
        service,
        _pem(spec.get("caBundle") or ""),
        bool(spec.get("insecureSkipTLSVerify")),
        (condition_of(obj) or {}).get("status") == "True",
    )


def condition_of(obj: Object) -> dict[str, Any] | None:
    """Return the condition Available."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == AVAILABLE), None)


def _pem(bundle: str) -> str:
    try:
        return base64.b64decode(bundle, validate=True).decode("ascii", "ignore")
    except (binascii.Error, ValueError):
        return bundle
