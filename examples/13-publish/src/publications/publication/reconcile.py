"""Controller of publications: the ready endpoints of a Service, under a name outside of the cluster.

Guarantees, also if any process is killed: an entry has one owner, and entries of other owners are never changed. The
finalizer is set before the first change and removed after the last one, so no entry outlives its publication.
"""

import asyncio
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Final

from sampan.client import ListOptions, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.informer import Ref
from sampan.operator import (
    Builder,
    Condition,
    Finalizing,
    GenerationChanged,
    Manager,
    Request,
    Result,
    RetryLater,
    finalizer,
    patch_status,
    set_condition,
)
from sampan.resource import Object, ResourceInfo

from publications.publication.v1 import Publication, PublicationStatus
from publications.targets.configured import configured
from publications.targets.target import Busy, Target

SLICES: Final = ResourceInfo(
    GroupVersionResource("discovery.k8s.io", "v1", "endpointslices"), "EndpointSlice", namespaced=True
)
SERVICE: Final = "kubernetes.io/service-name"
FINALIZER: Final = "publications.example.com/withdraw"
RECHECK_S: Final = 10.0
"""Targets send no events: drift is found this often."""


def set_up(manager: Manager, targets: Mapping[str, Target] | None = None) -> None:
    """Add the controller to the manager. `targets` by name; by default those that the environment configures."""
    targets = configured() if targets is None else targets
    client, events = manager.client, manager.event_recorder("publications")
    publications = client.resource(Publication, namespace="")
    paused_until: dict[str, float] = {}

    async def reconcile(request: Request) -> Result | None:
        """Make the target match the spec. It may run at any time, and again after any failure."""
        try:
            # From the server: an old object would be published again after its withdrawal.
            found = await client.direct.resource(Publication, namespace=request.namespace).get(request.name)
        except NotFound:
            return None
        kind, now = found.spec.target, asyncio.get_running_loop().time
        if kind not in targets:
            await report(found, "NoTarget", f"the operator has no target {kind}")
            raise RetryLater(f"no target {kind}", after_s=RECHECK_S)
        if (pause_s := paused_until.get(kind, 0) - now()) > 0:
            raise RetryLater(f"{kind} is busy", after_s=pause_s)
        try:
            return await finalizer(publications, found, FINALIZER, Finalizing(publish, withdraw))
        except Busy as busy:  # For all publications: the target counts the requests of this operator.
            paused_until[kind] = now() + (busy.after_s or 1)
            raise

    async def publish(found: Publication) -> Result | None:
        name, owner, target = found.spec.name, found.metadata.uid, targets[found.spec.target]
        slices = client.resource(SLICES, namespace=found.metadata.namespace)
        options = ListOptions(label_selector=f"{SERVICE}={found.spec.service_ref.name}")
        desired = addresses((await slices.list(options)).items, with_ports=target.has_ports)
        try:
            entry = await target.read(name, owner)
            if entry.owner != owner and not entry.is_free:
                await report(found, "NameTaken", f"{name} has records that belong to {entry.owner or 'other clients'}")
                return None
            if entry.addresses != desired or entry.owner != owner:
                await target.write(name, owner, entry, desired)
        except RetryLater as error:
            await report(found, type(error).__name__, str(error))
            raise
        await report(found, "Published", f"{name} has {len(desired)} addresses", desired)
        return None

    async def withdraw(found: Publication) -> Result | None:
        name, owner, target = found.spec.name, found.metadata.uid, targets[found.spec.target]
        entry = await target.read(name, owner)
        if entry.owner == owner:
            await target.write(name, owner, entry, None)
        return None

    async def report(before: Publication, reason: str, message: str, found: Iterable[str] | None = None) -> None:
        """Write the condition Ready, and an Event if it changed."""
        is_ready, after = found is not None, deepcopy(before)
        status = after.status = after.status or PublicationStatus()
        status.addresses = status.addresses if found is None else sorted(found)
        ready = Condition(type="Ready", status="True" if is_ready else "False", reason=reason, message=message)
        status.observed_generation = ready.observed_generation = before.metadata.generation
        changed = set_condition(status.conditions, ready)
        await patch_status(publications, before, after, optimistic_lock=True)
        if changed:
            (events.normal if is_ready else events.warning)(before, reason, message)

    async def of_service(changed: Ref[Object]) -> list[Request]:
        """Return the publications of the Service of an EndpointSlice."""
        service = changed.labels.get(SERVICE)
        listed = (await publications.in_namespace(changed.namespace).list()).items
        return [
            Request(changed.namespace, each.metadata.name) for each in listed if each.spec.service_ref.name == service
        ]

    builder = Builder(manager).for_(Publication, predicates=[GenerationChanged()]).recheck_every(RECHECK_S)
    builder.watches(SLICES, of_service).writes(Publication, "patch").complete(reconcile)


def addresses(slices: Iterable[Object], *, with_ports: bool) -> frozenset[str]:
    """Return the addresses of the ready endpoints; with ports, as `ADDRESS:PORT` of the first port."""
    found = set()
    for each in slices:
        ports = [port["port"] for port in each.get("ports") or () if port.get("port")][:1] if with_ports else [0]
        for endpoint in each.get("endpoints") or ():
            if endpoint.get("conditions", {}).get("ready", True):
                found |= {f"{one}:{port}" if with_ports else one for one in endpoint["addresses"] for port in ports}
    return frozenset(found)
