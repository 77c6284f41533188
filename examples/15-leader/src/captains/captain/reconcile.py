"""Controller of captains."""

import asyncio
from copy import deepcopy
from typing import Any

from sampan.informer import Ref
from sampan.operator import (
    Builder,
    Condition,
    Finalizing,
    GenerationChanged,
    Manager,
    Request,
    Result,
    finalizer,
    patch_status,
    set_condition,
)
from sampan.resource import Object

from captains.captain.publication import CONFIG_MAPS, SERVICES, publish
from captains.captain.ship import LEASES, PODS, Ship
from captains.captain.term import Term, is_candidate
from captains.captain.v1 import Captain, CaptainStatus

FINALIZER = "captains.example.com/label"


class _Watches:
    """Time of this process at the last change of each Lease. Times in the Lease are never compared."""

    def __init__(self) -> None:
        self._changes: dict[Request, tuple[str, float]] = {}

    def age_s(self, request: Request, lease: Object) -> float:
        """Return the seconds since the Lease has changed, as this process observed it."""
        version, now = lease["metadata"]["resourceVersion"], asyncio.get_running_loop().time()
        if self._changes.get(request, ("", 0.0))[0] != version:
            self._changes[request] = (version, now)
        return now - self._changes[request][1]

    def forget(self, request: Request) -> None:
        """Forget a captain that no longer exists."""
        self._changes.pop(request, None)


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    captains = manager.client.resource(Captain, namespace="")
    events = manager.event_recorder("captains")
    watches = _Watches()

    async def reconcile(request: Request) -> Result | None:
        captain = await captains.find(request)
        if captain is None:
            watches.forget(request)
            return None
        ship = Ship(manager.client.direct, captain, manager.options.clock)
        return await finalizer(captains, captain, FINALIZER, Finalizing(lambda it: lead(request, it, ship), clean_up))

    async def clean_up(captain: Captain) -> None:
        await Ship(manager.client.direct, captain, manager.options.clock).release()

    async def lead(request: Request, before: Captain, ship: Ship) -> Result:
        """Continue the term of the leader, or begin the next one; then publish it."""
        third_s = before.spec.lease_seconds / 3
        lease = await ship.lease()
        age_s = watches.age_s(request, lease)
        pods = await ship.pods()
        term, chosen = Term.of_lease(lease), [pod for pod in pods if ship.selects(pod)]
        after = term.successor(chosen, expired=age_s >= before.spec.lease_seconds)
        holds = any(term.leads(pod) and is_candidate(pod) for pod in chosen)
        if after is not None:
            lease = await ship.write(lease, after)
        elif holds and age_s >= third_s:
            lease = await ship.write(lease, term)
        term = after or term
        if after is not None:
            # Read again: every Pod that could have led earlier terms must get the new epoch.
            pods = await ship.pods()
        await ship.label(term, pods)
        leader = next((pod for pod in pods if term.leads(pod)), None)
        await publish(manager.client, before, term, leader)
        await report(before, term, leads=leader is not None and (holds or after is not None))
        return Result(requeue_after_s=max(third_s - watches.age_s(request, lease), 0.1))

    async def report(before: Captain, term: Term, *, leads: bool) -> None:
        captain = deepcopy(before)
        status = captain.status = captain.status or CaptainStatus()
        generation = status.observed_generation = captain.metadata.generation
        changed = status.epoch != term.epoch
        status.leader, status.epoch = term.pod, term.epoch
        ready = Condition(
            type="Ready",
            status="True" if leads else "False",
            reason="Leading" if leads else "NoReadyPod",
            observed_generation=generation,
        )
        set_condition(status.conditions, ready, manager.options.clock)
        await patch_status(captains, before, captain, optimistic_lock=True)
        if changed and term.uid:
            events.normal(captain, "LeaderChanged", f"{term.pod} leads with epoch {term.epoch}")

    async def captains_of(pod: Ref[Any]) -> list[Request]:
        near = await captains.in_namespace(pod.namespace).list()
        labels = pod.labels.items()
        return [Request(pod.namespace, each.metadata.name) for each in near if each.spec.selector.items() <= labels]

    manager.declare_reads(LEASES, "get")
    (
        Builder(manager)
        .for_(Captain, predicates=[GenerationChanged()])
        .watches(PODS, captains_of)
        .owns(SERVICES)
        .owns(CONFIG_MAPS)
        .writes(Captain, "patch")
        .writes(PODS, "patch")
        .writes(LEASES, "create", "update")
        .writes(SERVICES, "create", "patch", "delete")
        .writes(CONFIG_MAPS, "create", "patch", "delete")
        .complete(reconcile)
    )
