"""Objects of the tests. Their Jobs do not run: a test ends them."""

from typing import Any

from sampan.resource import ObjectMeta
from sampan.testing import Cluster, end_job, has_condition

from ledgers.app import set_up
from ledgers.backup.v1 import Backup, BackupSpec
from ledgers.backup_schedule.v1 import BackupSchedule, BackupScheduleSpec
from ledgers.ledger.v1 import Ledger, LedgerSpec
from ledgers.restore.v1 import Restore, RestoreSpec

KINDS = (Ledger, Backup, Restore, BackupSchedule)
CLAIM_LOOP = "persistentvolumeclaim-protection"
"""Loop that finishes deletions of claims."""
REPORT = "5feceb66 8192"


def ledger(name: str = "tea", **fields: Any) -> Ledger:
    return Ledger(metadata=ObjectMeta(name=name), spec=LedgerSpec(**{"image": "tea:1", **fields}))


def backup(name: str = "one", ledger: str = "tea") -> Backup:
    return Backup(metadata=ObjectMeta(name=name), spec=BackupSpec(ledger_ref=ledger))


def restore(name: str = "again", backup: str = "one", *, confirmed: bool = False) -> Restore:
    return Restore(metadata=ObjectMeta(name=name), spec=RestoreSpec(backup_ref=backup, confirmed=confirmed))


def schedule(name: str = "hourly", **fields: Any) -> BackupSchedule:
    spec = {"ledger_ref": "tea", "cron": "0 * * * *", "keep": 3, **fields}
    return BackupSchedule(metadata=ObjectMeta(name=name), spec=BackupScheduleSpec(**spec))


async def start(cluster: Cluster) -> None:
    """Run the operator with the ledger `tea`."""
    await cluster.crds(*KINDS)
    cluster.run(set_up)
    await cluster.apply(ledger())
    await cluster.settled()


async def back_up(cluster: Cluster, name: str = "one", ledger: str = "tea") -> None:
    """Make a backup, and let its Job end."""
    await cluster.apply(backup(name, ledger))
    await end_job(cluster, f"backup-{name}", message=REPORT)
    await cluster.eventually(f"backups/{name}", has_condition("Ready"))


async def switch(cluster: Cluster, name: str = "again", backup: str = "one") -> None:
    """Restore a backup."""
    await cluster.apply(restore(name, backup))
    await end_job(cluster, f"restore-{name}")
    await cluster.eventually(f"restores/{name}", has_condition("Ready", reason="Switched"))


async def volume(cluster: Cluster, ledger: str = "tea") -> str:
    """Return the claim that the application uses."""
    found = await cluster.get(f"statefulsets/{ledger}")
    [used] = found["spec"]["template"]["spec"]["volumes"]
    return str(used["persistentVolumeClaim"]["claimName"])


async def names(cluster: Cluster, kind: str) -> list[str]:
    return sorted(each["metadata"]["name"] for each in await cluster.list(kind))
