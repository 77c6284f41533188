"""Controller of schedules: creates a Backup at each time, and deletes old ones.

Old ones are deleted at the times of the schedule, so that one more than `keep` exists between them.
Guarantees: one Backup for each time, because the time is in its name. A good Backup is deleted only if `keep` newer
good ones of this schedule and ledger exist, and no restore reads it. Backups of users and of other schedules stay.
"""

from typing import Final

from sampan.client import DeleteOptions, ListOptions
from sampan.core.time import format_time, parse_time
from sampan.operator import Builder, GenerationChanged, Manager, parse_schedule
from sampan.resource import ObjectMeta

from ledgers.backup.v1 import Backup, BackupSpec
from ledgers.backup_schedule.v1 import BackupSchedule
from ledgers.restore.v1 import Restore
from ledgers.steps import COMPLETED, ENDED, FAILED, WAITING, State, reason_of, reconciler

SCHEDULE: Final = "ledgers.example.com/schedule"


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    direct = manager.client.direct

    async def step(schedule: BackupSchedule) -> State:
        metadata, now = schedule.metadata, manager.options.clock.now()
        try:
            times = parse_schedule(schedule.spec.cron)
        except ValueError as error:
            return State(False, "InvalidSchedule", str(error))
        since = schedule.status.last if schedule.status else ""
        due, coming = times.latest(parse_time(since or metadata.creation_timestamp or ""), now), times.next_after(now)
        if due:
            name = f"{metadata.name}-{int(due.timestamp())}"
            place = ObjectMeta(name, metadata.namespace, labels={SCHEDULE: metadata.name})
            # An apply, which may be repeated: its response may be lost, or the status not written.
            backup = Backup(metadata=place, spec=BackupSpec(ledger_ref=schedule.spec.ledger_ref))
            await direct.resource(Backup).apply(backup, field_manager="ledgers")
        await prune(schedule)
        again_s = (coming - now).total_seconds() if coming else None
        return State(True, "Scheduled", "", {"last": format_time(due)} if due else {}, again_s)

    async def prune(schedule: BackupSchedule) -> None:
        # From the server: an old cache could still have newer backups, which a user has deleted.
        backups = direct.resource(Backup, namespace=schedule.metadata.namespace)
        restores = await direct.resource(Restore, namespace=schedule.metadata.namespace).list_all()
        in_use = {each.spec.backup_ref for each in restores if reason_of(each) not in (*ENDED, "Switched")}
        found = await backups.list_all(ListOptions(label_selector=f"{SCHEDULE}={schedule.metadata.name}"))
        own = [each for each in found if each.spec.ledger_ref == schedule.spec.ledger_ref]
        for reason in (COMPLETED, FAILED, WAITING):
            # The oldest are the first ones: they are in the order of their names, and so of their times.
            for old in [each for each in own if reason_of(each) == reason][: -schedule.spec.keep]:
                if old.metadata.name not in in_use:
                    await backups.delete(old.metadata.name, DeleteOptions(uid=old.metadata.uid))

    builder = Builder(manager).for_(BackupSchedule, predicates=[GenerationChanged()])
    builder.writes(Backup, "create", "patch", "delete").complete(reconciler(manager, BackupSchedule, step))
