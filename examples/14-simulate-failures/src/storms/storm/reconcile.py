"""Controller of storms. The plan is stored before the first fault, so a crash never makes a storm larger.

A Lease for each namespace lets one storm at a time rage there: budgets of several storms do not add up.
"""

import datetime as dt
from contextlib import suppress
from copy import deepcopy

from sampan.client import AlreadyExists, DeleteOptions, ListOptions, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import format_time, parse_time
from sampan.operator import (
    Builder,
    Condition,
    GenerationChanged,
    Manager,
    Request,
    Result,
    patch_status,
    set_condition,
    set_owner_reference,
)
from sampan.resource import Object, ResourceInfo

from storms.storm.faults import JOBS, PODS, POLICIES, Faults
from storms.storm.plan import is_ready, refusal, victims
from storms.storm.v1 import Phase, Storm, StormStatus

LEASES = ResourceInfo(GroupVersionResource("coordination.k8s.io", "v1", "leases"), "Lease", namespaced=True)
NAMESPACES = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", namespaced=False)
LOCK = "storm"
OPEN = ("Planned", "Begun")
ENDED = ("Planned", "Passed", "Failed", "Aborted", "Refused")


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    storms = manager.client.resource(Storm, namespace="")
    events = manager.event_recorder("storms")
    direct = manager.client.direct

    async def reconcile(request: Request) -> Result | None:
        """Take one step of the storm. It may run at any time, and again after any failure."""
        before = await storms.find(request)
        if before is None or before.metadata.deletion_timestamp:
            return None
        storm = deepcopy(before)
        status = storm.status = storm.status or StormStatus()
        if status.phase not in ENDED:
            await step(storm, status)
        if status.phase in ENDED:
            await Faults(direct, storm).heal()
            await unlock(storm)
        generation = status.observed_generation = storm.metadata.generation
        ended = Condition(
            type="Ended",
            status="True" if status.phase in ENDED else "False",
            reason=status.phase or "Running",
            message=status.message,
            observed_generation=generation,
        )
        if set_condition(status.conditions, ended, manager.options.clock) and status.phase != "Waiting":
            write = events.normal if status.phase in ("Planned", "Running", "Passed") else events.warning
            write(storm, f"Storm{status.phase}", status.message or "the storm begins")
        await patch_status(storms, before, storm, optimistic_lock=True)
        return None if status.phase in ENDED else Result(requeue_after_s=2.0 if status == before.status else 0.1)

    async def step(storm: Storm, status: StormStatus) -> None:
        now, hypothesis = manager.options.clock.now(), storm.spec.hypothesis
        ready = sum(map(is_ready, await pods_of(storm, hypothesis.selector)))
        holds = ready >= hypothesis.min_ready
        missed = [each.pod for each in status.victims if each.state in OPEN]
        counted = f"{ready} of {hypothesis.min_ready} Pods are ready"
        if not status.ends:
            await begin(storm, status, now, f"before the storm, {counted}" if not holds else "")
        elif not holds and now < parse_time(status.ends) and "HypothesisBroken" in storm.spec.abort_on:
            end(status, "Aborted", f"during the storm, {counted}")
        elif now < parse_time(status.ends):
            await hit(storm, status, now)
        elif missed:
            end(status, "Failed", f"not hit in time: {', '.join(missed)}")
        elif holds:
            end(status, "Passed", f"{len(status.victims)} victims; after the storm, {counted}")
        elif now >= parse_time(status.ends) + dt.timedelta(seconds=hypothesis.recovery_seconds):
            end(status, "Failed", f"{hypothesis.recovery_seconds} s after the storm, {counted}")
        status.lowest = min(status.lowest, ready) if status.lowest is not None else ready

    async def begin(storm: Storm, status: StormStatus, now: dt.datetime, broken: str) -> None:
        """Refuse the storm, or store its plan. The faults come with the next step, when the plan is stored."""
        namespace = await direct.resource(NAMESPACES).get(storm.metadata.namespace)
        if reason := refusal(namespace) or broken:
            end(status, "Refused", reason)
        elif not storm.spec.dry_run and not await lock(storm):
            status.phase, status.message = "Waiting", "another storm is in this namespace"
        else:
            status.victims = victims(storm, await pods_of(storm, storm.spec.selector), now)
            status.ends = format_time(now + dt.timedelta(seconds=storm.spec.window_seconds))
            status.phase, status.message = "Running", ""
            if storm.spec.dry_run:
                end(status, "Planned", f"would hit {', '.join(each.pod for each in status.victims) or 'no Pod'}")

    async def hit(storm: Storm, status: StormStatus, now: dt.datetime) -> None:
        """Take the next step of a fault that is due: it is stored as begun before it is injected."""
        due = [each for each in status.victims if each.state in OPEN and parse_time(each.at) <= now]
        for victim in due[:1]:
            exists = victim.uid in [pod["metadata"]["uid"] for pod in await pods_of(storm, storm.spec.selector)]
            if victim.state == "Planned" and exists:
                victim.state = "Begun"
                return
            victim.state, victim.note = await Faults(direct, storm).inject(victim)
            events.normal(storm, f"Pod{victim.state}", f"{victim.action} {victim.pod} {victim.note}".strip())
            if victim.state == "Spared" and "EvictionRefused" in storm.spec.abort_on:
                end(status, "Aborted", f"{victim.pod}: {victim.note}")

    def end(status: StormStatus, phase: Phase, message: str) -> None:
        status.phase, status.message = phase, message

    async def pods_of(storm: Storm, labels: dict[str, str]) -> list[Object]:
        pods = direct.resource(PODS, namespace=storm.metadata.namespace)
        selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        return list(await pods.list_all(ListOptions(label_selector=selector)))

    async def lock(storm: Storm) -> bool:
        """Take the lock of the namespace. It disappears with the storm."""
        leases = direct.resource(LEASES, namespace=storm.metadata.namespace)
        metadata, spec = {"name": LOCK, "namespace": storm.metadata.namespace}, {"holderIdentity": storm.metadata.uid}
        lease: Object = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}
        set_owner_reference(storm, lease)
        try:
            await leases.create(lease)
        except AlreadyExists:
            return bool((await leases.get(LOCK))["spec"]["holderIdentity"] == storm.metadata.uid)
        return True

    async def unlock(storm: Storm) -> None:
        leases = direct.resource(LEASES, namespace=storm.metadata.namespace)
        with suppress(NotFound):
            lease = await leases.get(LOCK)
            if lease["spec"]["holderIdentity"] == storm.metadata.uid:
                await leases.delete(LOCK, DeleteOptions(uid=lease["metadata"]["uid"]))

    for kind, verb in ((NAMESPACES, "get"), (PODS, "get"), (PODS, "list"), (JOBS, "get"), (LEASES, "get")):
        manager.declare_reads(kind, verb)
    builder = Builder(manager).for_(Storm, predicates=[GenerationChanged()])
    builder.writes(Storm, "update", subresource="finalizers").writes(JOBS, "update", subresource="finalizers")
    builder.writes(PODS, "patch").writes(PODS, "create", subresource="eviction")
    builder.writes(JOBS, "create", "delete").writes(POLICIES, "create").writes(LEASES, "create", "delete")
    builder.complete(reconcile)
