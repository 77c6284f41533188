"""A campaign over 45 fields: the operator keeps a Deployment, a Service and a ConfigMap for an object."""

import time
from typing import Any, Final

from sampan.core.gvk import GroupVersionResource
from sampan.operator import Result
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import ResourceInfo
from sampan.testing.campaign import Campaign, run_campaign

FIELDS: Final = 45
_APPS: Final = ResourceInfo(GroupVersionResource("example.com", "v1", "apps"), "App", namespaced=True)
_DEPLOYMENTS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "deployments"), "Deployment", namespaced=True)
_SERVICES: Final = ResourceInfo(GroupVersionResource("", "v1", "services"), "Service", namespaced=True)
_MAPS: Final = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
_KINDS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "integer", "minimum": 0, "maximum": 9},
    {"type": "string", "maxLength": 20},
    {"type": "boolean"},
    {"type": "string", "enum": ["a", "b", "c"]},
    {"type": "array", "items": {"type": "string"}},
)


def crd() -> dict[str, Any]:
    """Return a CRD whose spec has 45 fields of five types."""
    properties = {f"field{number}": _KINDS[number % len(_KINDS)] for number in range(FIELDS)}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "apps.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "apps", "singular": "app", "kind": "App", "listKind": "AppList"},
            "versions": [version],
        },
    }


def set_up(manager: Manager) -> None:
    """Add the controller to a manager."""

    async def reconcile(request: Request) -> Result:
        client = manager.client
        found = await client.resource(_APPS).find(request)
        if found is not None:
            for info, body in _owned({key: str(value) for key, value in found["spec"].items()}):
                reference = {"apiVersion": "example.com/v1", "kind": "App", "controller": True}
                reference |= {"name": request.name, "uid": found["metadata"]["uid"]}
                metadata = {"name": request.name, "namespace": "default", "ownerReferences": [reference]}
                made = {"apiVersion": str(info.gvr.group_version), "kind": info.kind, "metadata": metadata, **body}
                await client.resource(info).apply(made, field_manager="operator", force=True)
        return Result()

    builder = Builder(manager).for_(_APPS)
    for info in (_DEPLOYMENTS, _SERVICES, _MAPS):
        builder = builder.owns(info)
    builder.complete(reconcile)


def _owned(data: dict[str, str]) -> list[tuple[ResourceInfo, dict[str, Any]]]:
    labels = {"app": "app"}
    container = {"name": "main", "image": "main", "env": [{"name": key, "value": data[key]} for key in sorted(data)]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return [
        (_DEPLOYMENTS, {"spec": {"selector": {"matchLabels": labels}, "template": template}}),
        (_SERVICES, {"spec": {"selector": labels, "ports": [{"port": 80}]}}),
        (_MAPS, {"data": data}),
    ]


def measure() -> float:
    """Return the processor seconds of a campaign over all fields, three values each."""
    campaign = Campaign(set_up, crd(), crds=[crd()], name="45 fields")
    began = time.process_time()
    report = run_campaign(campaign)
    assert len(report.fields) == FIELDS, str(report)[:500]
    assert not report.findings, str(report)[:2000]
    return time.process_time() - began
