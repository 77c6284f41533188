"""Controller of restores: a Job loads a backup into a new volume; then the ledger switches to it, in one write.

Guarantees: the old volume stays until the user confirms. A copy with another checksum never becomes the volume of a
ledger. A restore that is older than the ledger, or than its last restore, is refused.
"""

from sampan.client import DeleteOptions, MergePatch
from sampan.operator import JOBS, Builder, JobEnded, JobRunner, Manager, ensure_controlled, set_owner_reference
from sampan.resource import meta

from ledgers.backup.v1 import Backup
from ledgers.engines import LOAD, RESTORE
from ledgers.ledger.v1 import Ledger
from ledgers.objects import CLAIMS, claim, job
from ledgers.restore.v1 import Restore, RestoreStatus
from ledgers.steps import COMPLETED, ENDED, REFUSED, WAITING, State, find, reason_of, reconciler


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    claims, jobs = manager.client.direct.resource(CLAIMS, namespace=""), JobRunner(manager)

    async def step(restore: Restore) -> State:
        status = restore.status or RestoreStatus()
        return await (confirm(restore, status) if status.switched else load(restore, status))

    async def load(restore: Restore, status: RestoreStatus) -> State:
        name, namespace = f"restore-{restore.metadata.name}", restore.metadata.namespace
        backup = await find(manager, Backup, namespace, restore.spec.backup_ref)
        ledger = backup and await find(manager, Ledger, namespace, backup.spec.ledger_ref)
        if not ledger or not ledger.status or not ledger.status.volume or reason_of(backup) not in ENDED:
            return State(False, WAITING, "the backup or the ledger is not ready", again_s=5)
        volume, newest = ledger.status.volume, max(ledger.metadata.creation_timestamp, ledger.status.restored)
        if (restore.metadata.creation_timestamp or "") < newest or volume not in (status.replaces or volume, name):
            return State(False, REFUSED, "the restore is stale: the ledger is newer, or was restored since")
        if reason_of(backup) != COMPLETED or backup.status.ledger.engine != ledger.spec.engine:
            return State(False, REFUSED, "the backup has failed, or is one of another engine")
        if not status.replaces:  # Stored before the Job starts.
            old = await find(manager, CLAIMS, namespace, volume)
            return State(False, "Loading", "", {"replaces": volume, "replacesUid": meta(old).uid if old else "lost"})
        made = await ensure_controlled(claims, restore, claim(name, ledger.spec))
        script, copy = RESTORE.format(load=LOAD[ledger.spec.engine]), f"backup-{restore.spec.backup_ref}"
        loading = job(name, ledger.spec, script, backup.status.checksum, data=name, backup=copy)
        outcome = await jobs.run(restore, loading)
        if outcome is None:
            return State(False, "Loading")
        if not outcome.succeeded:
            return State(False, REFUSED, f"the backup cannot be loaded: {outcome.message}")
        # The ledger uses the volume from the second write on. It is the only one that counts.
        set_owner_reference(ledger, made)
        await claims.in_namespace(namespace).update(made)
        lock = {"resourceVersion": ledger.metadata.resource_version}
        switched = {"volume": name, "restored": restore.metadata.creation_timestamp}
        patch, ledgers = MergePatch({"metadata": lock, "status": switched}), manager.client.resource(Ledger)
        await ledgers.in_namespace(namespace).patch(ledger.metadata.name, patch, subresource="status")
        return State(True, "Switched", f"{status.replaces} stays until spec.confirmed is true", {"switched": True})

    async def confirm(restore: Restore, status: RestoreStatus) -> State:
        if not restore.spec.confirmed:
            return State(True, "Switched", f"{status.replaces} stays until spec.confirmed is true")
        old = await find(manager, CLAIMS, restore.metadata.namespace, status.replaces)
        if old and meta(old).uid == status.replaces_uid:  # Not that of a later ledger with the same name.
            await claims.in_namespace(meta(old).namespace).delete(status.replaces, DeleteOptions(uid=meta(old).uid))
        return State(True, "Confirmed", f"{status.replaces} is deleted")

    builder = Builder(manager).for_(Restore).owns(JOBS, predicates=[JobEnded()])
    builder.writes(CLAIMS, "create", "update", "delete").writes(Ledger, "patch", subresource="status")
    builder.complete(reconciler(manager, Restore, step))
