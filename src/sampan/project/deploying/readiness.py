"""`wait_until_ready`: waits for the Pods of a Deployment, and reports the reasons if they do not start."""

import asyncio
from collections.abc import Callable
from typing import Final

from sampan.client import Client
from sampan.core.clock import monotonic
from sampan.core.gvk import GroupVersionResource
from sampan.project.deploying.reasons import brief_reasons, full_reasons
from sampan.project.errors import ProjectError
from sampan.resource import Object, ResourceInfo

DEPLOYMENTS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "deployments"), "Deployment", True)
_LOOK_S: Final = 0.5
_REASONS_S: Final = 5.0
"""Time between looks at the Pods. The first one comes after this time too: quick starts print nothing."""


class NotReady(ProjectError):
    """The Pods are not ready in time. The reasons were reported."""


async def wait_until_ready(
    client: Client, namespace: str, name: str, report: Callable[[str], None], *, timeout_s: float
) -> None:
    """Wait until all replicas have the present template and are available.

    Raises `NotReady` after `timeout_s`, or as soon as the Deployment's own deadline has passed. Raises `ApiError`.
    """
    resource = client.resource(DEPLOYMENTS, namespace=namespace)
    end = monotonic() + timeout_s
    shown, look_at = "", monotonic() + _REASONS_S
    while lacking := what_lacks(deployment := await resource.get(name)):
        if monotonic() >= end or deadline_passed(deployment):
            for line in await full_reasons(client, deployment):
                report(line)
            raise NotReady(
                f"Deployment {name} in {namespace} is not ready after {timeout_s:g} s: {lacking}. What it needs "
                "was applied; after a correction, run sampan deploy again"
            )
        if monotonic() >= look_at:
            look_at = monotonic() + _REASONS_S
            line = "; ".join([lacking, *await brief_reasons(client, deployment)])
            if line != shown:
                report(f"waiting  {line}")
                shown = line
        await asyncio.sleep(_LOOK_S)
    report(f"ready    Deployment {name} in {namespace}")


def what_lacks(deployment: Object) -> str:
    """Return what the rollout of a Deployment lacks; empty if it is complete.

    Source: kubectl pkg/polymorphichelpers/rollout_status.go (1.36).
    """
    spec, status = deployment.get("spec") or {}, deployment.get("status") or {}
    desired = spec.get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if status.get("observedGeneration", 0) < deployment["metadata"].get("generation", 0):
        return "its change is not observed yet"
    if updated < desired:
        return f"{updated} of {desired} replicas have the new template"
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old replicas have not ended"
    if available < updated:
        return f"{available} of {updated} replicas are available"
    return ""


def deadline_passed(deployment: Object) -> bool:
    """Return True if the Deployment has given up: `progressDeadlineSeconds`."""
    conditions = (deployment.get("status") or {}).get("conditions") or []
    return any(
        each.get("type") == "Progressing" and each.get("reason") == "ProgressDeadlineExceeded" for each in conditions
    )
