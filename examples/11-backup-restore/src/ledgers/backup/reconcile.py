"""Controller of backups: a Job copies the volume of a ledger to a new volume, and reports checksum and size.

Guarantees: one Job for each Backup, because its name follows from that of the Backup. A Backup that has completed is
never run again, and never changes. Its copy is deleted with it, by the garbage collector.
"""

from sampan.operator import JOBS, Builder, JobEnded, JobRunner, Manager, ensure_controlled

from ledgers.backup.v1 import Backup, BackupStatus
from ledgers.engines import BACKUP, DUMP
from ledgers.ledger.v1 import Ledger
from ledgers.objects import CLAIMS, claim, job
from ledgers.steps import COMPLETED, FAILED, WAITING, State, find, reconciler


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    claims, jobs = manager.client.direct.resource(CLAIMS, namespace=""), JobRunner(manager)

    async def step(backup: Backup) -> State:
        status, name = backup.status or BackupStatus(), f"backup-{backup.metadata.name}"
        if status.ledger is None:
            ledger = await find(manager, Ledger, backup.metadata.namespace, backup.spec.ledger_ref)
            if not ledger or not ledger.status or not ledger.status.volume:
                return State(False, WAITING, "the ledger is not ready", again_s=5)
            await ensure_controlled(claims, backup, claim(name, ledger.spec))
            # Stored before the Job starts, which then needs no ledger.
            return State(False, "Running", fields={"ledger": ledger.spec, "volume": ledger.status.volume})
        script = BACKUP.format(dump=DUMP[status.ledger.engine])
        outcome = await jobs.run(backup, job(name, status.ledger, script, data=status.volume, backup=name))
        if outcome is None:
            return State(False, "Running")
        checksum, _, size = outcome.message.partition(" ")
        if not outcome.succeeded or not size:
            return State(False, FAILED, outcome.message or "the Job has left no report")
        return State(True, COMPLETED, fields={"checksum": checksum, "bytes": int(size)})

    builder = Builder(manager).for_(Backup).owns(JOBS, predicates=[JobEnded()]).writes(CLAIMS, "create")
    builder.complete(reconciler(manager, Backup, step))
