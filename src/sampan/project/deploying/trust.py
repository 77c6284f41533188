"""`wait_until_trusted`: waits until the API server can call the operator's webhooks.

The operator issues the certificate of its webhooks, and writes its authority (`caBundle`) into their configurations.
Before that, the server refuses each write that a webhook checks.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from sampan.client import Client, NotFound
from sampan.core.clock import monotonic
from sampan.project.deploying.inventory import kind_of
from sampan.project.deploying.nodes import NodeKind, runtime_of
from sampan.project.deploying.readiness import DEPLOYMENTS, NotReady
from sampan.project.deploying.reasons import full_reasons
from sampan.project.deploying.stages import CRD, DEPLOYMENT, WEBHOOK_KINDS
from sampan.project.object_changes import ObjectChange
from sampan.resource import Object

_LOOK_S: Final = 0.5


async def wait_until_trusted(
    client: Client, changes: Sequence[ObjectChange], report: Callable[[str], None], *, timeout_s: float
) -> None:
    """Wait until each webhook of these objects that is behind a Service has the authority of its certificate.

    Returns at once if no operator runs: the nodes are simulated, or the Deployment has no replicas. Raises `NotReady`
    after `timeout_s`, and `ApiError`.
    """
    waiting = [each for each in changes if untrusted(each.desired)]
    if not waiting or not _has_replicas(changes) or await runtime_of(client) in (NodeKind.SIMULATED, NodeKind.ABSENT):
        return
    end = monotonic() + timeout_s
    for change in waiting:
        resource, is_reported = client.resource(change.info), False
        while True:
            try:
                lacking = untrusted(await resource.get(change.name))
            except NotFound:
                lacking = 1
            if not lacking:
                break
            if monotonic() >= end:
                await _report_reasons(client, changes, report)
                raise NotReady(
                    f"{change.title}: the operator has not written its caBundle after {timeout_s:g} s, so the server "
                    "cannot call its webhooks; after a correction, run sampan deploy again"
                )
            if not is_reported:
                report(f"waiting  {change.title}: the operator has not written its caBundle yet")
                is_reported = True
            await asyncio.sleep(_LOOK_S)


async def _report_reasons(client: Client, changes: Sequence[ObjectChange], report: Callable[[str], None]) -> None:
    """Report the state and the last log lines of the operator."""
    for change in changes:
        if kind_of(change.desired) == DEPLOYMENT:
            deployment = await client.resource(DEPLOYMENTS, namespace=change.namespace).get(change.name)
            for line in await full_reasons(client, deployment):
                report(line)


def untrusted(obj: Object) -> int:
    """Return the number of webhooks of a configuration or a CRD that are behind a Service, and have no authority."""
    kind, configs = kind_of(obj), list[Object]()
    if kind in WEBHOOK_KINDS:
        configs = [each.get("clientConfig") or {} for each in obj.get("webhooks") or ()]
    elif kind == CRD:
        conversion = (obj.get("spec") or {}).get("conversion") or {}
        configs = [(conversion.get("webhook") or {}).get("clientConfig") or {}]
    return sum(1 for config in configs if config.get("service") and not config.get("caBundle"))


def _has_replicas(changes: Sequence[ObjectChange]) -> bool:
    deployments = [each.desired for each in changes if kind_of(each.desired) == DEPLOYMENT]
    return any((each.get("spec") or {}).get("replicas", 1) for each in deployments)
