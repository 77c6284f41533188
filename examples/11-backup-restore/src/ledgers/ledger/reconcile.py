"""Controller of ledgers: a StatefulSet with the volume of the status, which only a restore replaces."""

from sampan.operator import Builder, Manager, ensure_controlled

from ledgers.ledger.v1 import Ledger
from ledgers.objects import CLAIMS, STATEFUL_SETS, claim, stateful_set
from ledgers.steps import State, reconciler


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    claims, sets = (manager.client.resource(kind, namespace="") for kind in (CLAIMS, STATEFUL_SETS))

    async def step(ledger: Ledger) -> State:
        name, volume = ledger.metadata.name, ledger.status.volume if ledger.status else ""
        if not volume:  # Only the first volume: a lost one is restored, never replaced by an empty one.
            volume = f"ledger-{name}"
            await ensure_controlled(claims, ledger, claim(volume, ledger.spec))
        found = await ensure_controlled(sets, ledger, stateful_set(name, ledger.spec, volume), field_manager="ledgers")
        status = found.get("status", {})
        current = status.get("observedGeneration") == found["metadata"]["generation"]
        ready = bool(current and status.get("readyReplicas") == status.get("updatedReplicas") == 1)
        return State(ready, "Serving" if ready else "Starting", fields={"volume": volume})

    manager.declare_reads(CLAIMS, "get")
    builder = Builder(manager).for_(Ledger).owns(STATEFUL_SETS).writes(STATEFUL_SETS, "create", "patch")
    builder.writes(CLAIMS, "create").complete(reconciler(manager, Ledger, step))
