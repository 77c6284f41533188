"""No single fault changes the end: a crash between any two writes, a lost response, an old cache, an outage.

`SAMPAN_PLANS=5000 pytest tests/test_faults.py` tries all of them.
"""

import os

import pytest
from sampan.testing import Cluster, end_job, exists, has_condition
from sampan.testing.explore import Scenario, State, explore, scenario
from worlds import CLAIM_LOOP, KINDS, REPORT, backup, ledger, restore, schedule

from ledgers.app import set_up

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))


def the_volume_in_use_exists(state: State) -> str | None:
    """While the ledger exists, so does its volume; the copy of a good backup too."""
    claims = {each["metadata"]["name"] for each in state.list("PersistentVolumeClaim")}
    used = {each.get("status", {}).get("volume", "") for each in state.list("Ledger")} - {""}
    good = {f"backup-{each['metadata']['name']}" for each in state.list("Backup") if is_good(each)}
    deleted = state.after is None and state.before is not None and state.before["kind"] == "PersistentVolumeClaim"
    lost = (used | good) - claims if deleted else set()
    return f"{', '.join(sorted(lost))} was deleted" if lost else None


def is_good(obj: dict[str, object]) -> bool:
    """Return True if a backup has completed."""
    return '"Completed"' in str(obj).replace("'", '"')


@scenario(set_up, crds=KINDS, loops=CLAIM_LOOP, checks=[the_volume_in_use_exists])
async def life(cluster: Cluster) -> None:
    """Back up, restore, confirm, delete."""
    await cluster.apply(ledger())
    await cluster.settled()
    await cluster.apply(backup())
    await end_job(cluster, "backup-one", message=REPORT)
    await cluster.eventually("backups/one", has_condition("Ready"))
    await cluster.apply(restore())
    await end_job(cluster, "restore-again")
    await cluster.eventually("restores/again", has_condition("Ready"))
    await cluster.apply(restore(confirmed=True))
    await cluster.eventually("restores/again", has_condition("Ready", reason="Confirmed"))
    for each in ("restores/again", "backups/one", "ledgers/tea"):
        await cluster.delete(each)


@scenario(set_up, crds=KINDS, loops=CLAIM_LOOP, checks=[the_volume_in_use_exists])
async def corrupt(cluster: Cluster) -> None:
    """A copy is corrupt."""
    await cluster.apply(ledger())
    await cluster.apply(backup())
    await end_job(cluster, "backup-one", message=REPORT)
    await cluster.eventually("backups/one", has_condition("Ready"))
    await cluster.apply(restore())
    await end_job(cluster, "restore-again", message="copy: FAILED", exit_code=1)


@scenario(set_up, crds=KINDS, loops=CLAIM_LOOP, checks=[the_volume_in_use_exists])
async def hourly(cluster: Cluster) -> None:
    """Two backups of a schedule that keeps one, and the start of the third."""
    await cluster.apply(ledger())
    await cluster.apply(schedule(keep=1))
    for hour in (1, 2):
        await cluster.advance_to(f"2030-01-01T0{hour}:00:30Z")
        name = f"hourly-{1893456000 + 3600 * hour}"
        await end_job(cluster, f"backup-{name}", message=REPORT)
        await cluster.eventually(f"backups/{name}", has_condition("Ready"))
    # The third time deletes the first backup, unless a restart has deleted it before. The user changes nothing, because
    # an early change of the schedule has another end: at the hours after it, there is no backup.
    await cluster.advance_to("2030-01-01T03:00:30Z")


@scenario(set_up, crds=KINDS, loops=CLAIM_LOOP)
async def deleted_meanwhile(cluster: Cluster) -> None:
    """The ledger is deleted during a backup."""
    await cluster.apply(ledger())
    await cluster.apply(backup())
    await cluster.eventually("jobs/backup-one", exists())
    await cluster.delete("ledgers/tea")
    await end_job(cluster, "backup-one", message=REPORT)


@pytest.mark.parametrize("story", [life, corrupt, hourly, deleted_meanwhile], ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
