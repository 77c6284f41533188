"""Tests of restores. Each test has a separate API server, in virtual time."""

import pytest
from sampan.testing import Cluster, end_job, exists, has_condition, is_gone
from worlds import CLAIM_LOOP, back_up, backup, ledger, names, restore, start, switch, volume

pytestmark = pytest.mark.cluster(loops=CLAIM_LOOP)


async def refused(cluster: Cluster, name: str = "again") -> str:
    """Wait until a restore is refused, and return the message."""
    found = await cluster.eventually(f"restores/{name}", has_condition("Ready", "False", reason="Refused"))
    return str(found["status"]["conditions"][0]["message"])


async def test_a_restore_gives_the_ledger_a_new_volume_and_keeps_the_old_one(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await switch(cluster)
    await cluster.settled()
    assert await volume(cluster) == "restore-again"
    assert await names(cluster, "persistentvolumeclaims") == ["backup-one", "ledger-tea", "restore-again"]


async def test_the_old_volume_is_deleted_when_the_restore_is_confirmed(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await switch(cluster)
    await cluster.patch("restores/again", {"spec": {"confirmed": True}})
    await cluster.eventually("pvc/ledger-tea", is_gone())
    await cluster.eventually("restores/again", has_condition("Ready", reason="Confirmed"))
    assert await volume(cluster) == "restore-again"


async def test_a_corrupt_copy_is_refused(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.apply(restore())
    await end_job(cluster, "restore-again", message="copy: FAILED", exit_code=1)
    assert "copy: FAILED" in await refused(cluster)
    assert await volume(cluster) == "ledger-tea"


async def test_the_job_of_a_restore_gets_the_checksum_of_the_backup(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.apply(restore())
    found = await cluster.eventually("jobs/restore-again", exists())
    [container] = found["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "CHECKSUM", "value": "5feceb66"}]


async def test_a_backup_that_failed_is_refused(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(backup())
    await end_job(cluster, "backup-one", exit_code=1)
    await cluster.apply(restore())
    assert "has failed" in await refused(cluster)


async def test_a_restore_waits_for_its_backup(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(restore())
    await cluster.eventually("restores/again", has_condition("Ready", "False", reason="Waiting"))
    await back_up(cluster)
    await end_job(cluster, "restore-again")
    await cluster.eventually("restores/again", has_condition("Ready", reason="Switched"))


async def test_a_restore_that_is_older_than_the_last_one_is_refused(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    [running] = cluster._running
    await running.crash()
    await cluster.apply(restore("late"))
    await cluster.advance(seconds=10)
    running.restart()
    await cluster.apply(restore("newer"))
    await end_job(cluster, "restore-newer")
    await cluster.eventually("restores/newer", has_condition("Ready", reason="Switched"))
    await end_job(cluster, "restore-late")
    assert "stale" in await refused(cluster, "late")
    assert await volume(cluster) == "restore-newer"


async def test_of_two_restores_at_once_one_wins(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    for name in ("a", "b"):
        await cluster.apply(restore(name))
    await cluster.eventually("jobs/restore-a", exists())
    await end_job(cluster, "restore-b")
    await end_job(cluster, "restore-a")
    assert "stale" in await refused(cluster, "a")
    assert await volume(cluster) == "restore-b"


async def test_a_restore_of_an_earlier_ledger_with_the_same_name_is_refused(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.apply(restore())
    await cluster.eventually("jobs/restore-again", exists())
    await cluster.delete("ledgers/tea")
    await cluster.eventually("pvc/ledger-tea", is_gone())
    await cluster.advance(seconds=2)
    await cluster.apply(ledger())
    await cluster.settled()
    await end_job(cluster, "restore-again")
    assert "stale" in await refused(cluster)
    assert await volume(cluster) == "ledger-tea"


async def test_a_confirmation_never_deletes_the_volume_of_a_later_ledger(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await switch(cluster)
    await cluster.delete("ledgers/tea")
    await cluster.eventually("pvc/ledger-tea", is_gone())
    await cluster.apply(ledger())
    await cluster.settled()
    await cluster.patch("restores/again", {"spec": {"confirmed": True}})
    await cluster.eventually("restores/again", has_condition("Ready", reason="Confirmed"))
    assert "ledger-tea" in await names(cluster, "persistentvolumeclaims")


async def test_a_new_ledger_gets_the_data_of_one_that_was_deleted(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.delete("ledgers/tea")
    await cluster.eventually("pvc/ledger-tea", is_gone())
    await cluster.apply(ledger())
    await switch(cluster)
    await cluster.settled()
    assert await volume(cluster) == "restore-again"


async def test_a_backup_of_another_engine_is_refused(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.delete("ledgers/tea")
    await cluster.eventually("ledgers/tea", is_gone())
    await cluster.apply(ledger(engine="postgresql"))
    await cluster.apply(restore())
    assert "another engine" in await refused(cluster)


async def test_a_ledger_keeps_its_volume_when_the_restore_is_deleted(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await switch(cluster)
    await cluster.delete("restores/again")
    await cluster.eventually("jobs/restore-again", is_gone())
    await cluster.settled()
    assert "restore-again" in await names(cluster, "persistentvolumeclaims")


async def test_a_restore_that_is_deleted_before_the_switch_leaves_no_volume(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.apply(restore())
    await cluster.eventually("jobs/restore-again", exists())
    await cluster.delete("restores/again")
    await cluster.eventually("pvc/restore-again", is_gone())
    assert await volume(cluster) == "ledger-tea"
