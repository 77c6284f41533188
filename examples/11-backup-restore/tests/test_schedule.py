"""Tests of schedules. Each test has a separate API server, in virtual time."""

import time

import pytest
from sampan.operator import ManagerOptions
from sampan.testing import Cluster, ClusterOptions, end_job, has_condition, quiet_informers, run_virtual
from worlds import CLAIM_LOOP, KINDS, REPORT, back_up, ledger, names, restore, schedule, start

from ledgers.app import set_up

MIDNIGHT = 1893456000
"""Start of the virtual time, in seconds since 1970."""
pytestmark = pytest.mark.cluster(loops=CLAIM_LOOP)


async def end_backups(cluster: Cluster, ended: set[str], exit_code: int = 0) -> None:
    """End the Jobs of new backups."""
    for name in await names(cluster, "jobs"):
        if name not in ended and name.startswith("backup-"):
            ended.add(name)
            await end_job(cluster, name, message=REPORT, exit_code=exit_code)
    await cluster.settled()


async def hours(cluster: Cluster, count: int, *, exit_code: int = 0) -> None:
    """Let hours pass. Each backup ends at once."""
    ended = set(await names(cluster, "jobs"))
    for _ in range(count):
        await cluster.advance(hours=1)
        await end_backups(cluster, ended, exit_code)


async def test_the_newest_good_backups_are_kept(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule())
    await hours(cluster, 5)
    left = await names(cluster, "backups")
    assert [int(each.removeprefix("hourly-")) % 86400 // 3600 for each in left] == [2, 3, 4, 5]


async def test_failed_backups_never_replace_good_ones(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule(keep=1))
    await hours(cluster, 1)
    [good] = await names(cluster, "backups")
    await hours(cluster, 6, exit_code=1)
    left = await names(cluster, "backups")
    assert (left[0], len(left)) == (good, 3)


async def test_two_schedules_at_once_keep_their_own_backups(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule("a", keep=1))
    await cluster.apply(schedule("b", keep=2))
    await hours(cluster, 4)
    assert [each[:1] for each in await names(cluster, "backups")] == ["a", "a", "b", "b", "b"]


async def test_backups_of_users_are_never_deleted(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster, "mine")
    await cluster.apply(schedule(keep=1))
    await hours(cluster, 3)
    assert len(await names(cluster, "backups")) == 3
    assert "mine" in await names(cluster, "backups")


async def test_a_backup_that_a_restore_reads_is_kept(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule(keep=1))
    await hours(cluster, 1)
    [first] = await names(cluster, "backups")
    await cluster.apply(restore(backup=first))
    await hours(cluster, 2)
    assert first in await names(cluster, "backups")
    await end_job(cluster, "restore-again")
    await hours(cluster, 1)
    assert first not in await names(cluster, "backups")


async def test_backups_of_another_ledger_do_not_count(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(ledger("ink"))
    await cluster.apply(schedule(keep=1))
    await hours(cluster, 1)
    [good] = await names(cluster, "backups")
    await cluster.delete("backupschedules/hourly")
    await cluster.apply(schedule(keep=1, ledger_ref="ink"))
    await hours(cluster, 3)
    assert good in await names(cluster, "backups")


async def test_of_the_times_that_were_missed_only_the_last_one_counts(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule())
    await cluster.settled()
    [running] = cluster._running
    await running.crash()
    await cluster.advance(hours=7)
    running.restart()
    await cluster.settled()
    assert len(await names(cluster, "backups")) == 1


async def test_a_schedule_that_cannot_be_read_is_named(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule(cron="at noon"))
    await cluster.eventually("backupschedules/hourly", has_condition("Ready", "False", reason="InvalidSchedule"))


async def test_a_backup_without_a_ledger_waits_and_is_pruned(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(schedule(ledger_ref="nothing", keep=2))
    await cluster.advance(hours=5)
    assert len(await names(cluster, "backups")) == 3


async def day() -> float:
    """Make hourly backups for a day. Return the seconds of the processor in which the hours passed."""
    async with Cluster(ClusterOptions(loops="none")) as cluster:
        await cluster.crds(*KINDS)
        cluster.run(set_up, options=ManagerOptions(informer_settings=quiet_informers()))
        await cluster.apply(ledger())
        await cluster.apply(schedule())
        await cluster.settled()
        taken_s = 0.0
        for hour in range(1, 26):
            began = time.process_time()
            await cluster.advance(hours=1)
            taken_s += time.process_time() - began
            # The end of a Job is no work of the operator.
            await end_job(cluster, f"backup-hourly-{MIDNIGHT + 3600 * hour}", message=REPORT)
        assert len(await names(cluster, "backups")) == 4
        return taken_s


def test_a_day_of_hourly_backups_passes_at_once() -> None:
    # About 0.2 s of processor time on a machine of 2023. The bound is for a loop that polls.
    assert run_virtual(day()) < 5
