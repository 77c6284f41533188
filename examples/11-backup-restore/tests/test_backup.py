"""Tests of ledgers and backups. Each test has a separate API server, in virtual time."""

import pytest
from sampan.client import HttpResponse, TransportError
from sampan.testing import Cluster, SentRequest, end_job, exists, field, has_condition, is_gone
from sampan.testing.requests import Proceed
from worlds import CLAIM_LOOP, KINDS, REPORT, back_up, backup, ledger, names, start, volume

from ledgers.app import set_up

pytestmark = pytest.mark.cluster(loops=CLAIM_LOOP)


async def test_a_ledger_runs_with_a_volume(cluster: Cluster) -> None:
    await start(cluster)
    assert await volume(cluster) == "ledger-tea"
    assert await names(cluster, "persistentvolumeclaims") == ["ledger-tea"]


@pytest.mark.cluster(loops="chain,local-path")
async def test_a_ledger_is_ready_when_its_pod_is(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.eventually("ledgers/tea", has_condition("Ready", reason="Serving"))


async def test_a_volume_that_was_lost_is_not_replaced_by_an_empty_one(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.delete("pvc/ledger-tea")
    await cluster.patch("ledgers/tea", {"spec": {"image": "tea:2"}})
    await cluster.settled()
    assert await names(cluster, "persistentvolumeclaims") == []


async def test_a_backup_has_the_checksum_and_size_of_its_job(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    status = (await cluster.get("backups/one"))["status"]
    assert (status["checksum"], status["bytes"], status["volume"]) == ("5feceb66", 8192, "ledger-tea")


async def test_a_lost_response_does_not_start_a_second_job(cluster: Cluster) -> None:
    lost: list[SentRequest] = []

    async def lose(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        response = await proceed()
        if sent.info.verb == "create" and sent.info.resource == "jobs" and not lost:
            lost.append(sent)
            raise TransportError("the connection was reset", sent=True)
        return response

    await start(cluster)
    cluster.interceptors.append(lose)
    await back_up(cluster)
    assert len(lost) == 1
    created = [each for each in cluster.journal.writes if "/jobs/" in each.key and each.before is None]
    assert len(created) == 1


async def test_a_backup_that_has_completed_is_not_run_again(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster)
    await cluster.eventually("jobs/backup-one", is_gone())
    await cluster.assert_idempotent()
    assert await names(cluster, "jobs") == []


async def test_a_backup_fails_with_the_error_of_its_job(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(backup())
    await end_job(cluster, "backup-one", message="database is locked", exit_code=1)
    await cluster.eventually("backups/one", has_condition("Ready", "False", reason="Failed"))
    assert "database is locked" in str(await cluster.get("backups/one"))


async def test_a_job_without_a_report_makes_no_good_backup(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(backup())
    await end_job(cluster, "backup-one")
    await cluster.eventually("backups/one", has_condition("Ready", "False", reason="Failed"))


async def test_a_backup_ends_when_its_ledger_is_deleted_meanwhile(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(backup())
    await cluster.eventually("jobs/backup-one", exists())
    await cluster.delete("ledgers/tea")
    await cluster.eventually("ledgers/tea", is_gone())
    await end_job(cluster, "backup-one", message=REPORT)
    await cluster.eventually("backups/one", has_condition("Ready", reason="Completed"))
    await cluster.settled()
    assert await names(cluster, "persistentvolumeclaims") == ["backup-one"]


async def test_a_backup_waits_for_its_ledger(cluster: Cluster) -> None:
    await cluster.crds(*KINDS)
    cluster.run(set_up)
    await cluster.apply(backup())
    await cluster.eventually("backups/one", has_condition("Ready", "False", reason="Waiting"))
    await cluster.apply(ledger())
    await end_job(cluster, "backup-one", message=REPORT)
    await cluster.eventually("backups/one", has_condition("Ready"))


async def test_a_copy_is_deleted_with_its_backup_and_no_other(cluster: Cluster) -> None:
    await start(cluster)
    await back_up(cluster, "one")
    await back_up(cluster, "two")
    await cluster.delete("backups/one")
    await cluster.eventually("pvc/backup-one", is_gone())
    assert await names(cluster, "persistentvolumeclaims") == ["backup-two", "ledger-tea"]


async def test_a_claim_of_another_owner_is_never_used(cluster: Cluster) -> None:
    await start(cluster)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await cluster.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "backup-one"}, "spec": spec}
    )
    await cluster.apply(backup())
    await cluster.eventually("backups/one", field(".status.conditions[0].reason") == "Waiting")
    assert await names(cluster, "jobs") == []


async def test_postgresql_runs_as_its_user(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(ledger("ink", engine="postgresql", user=70))
    await cluster.apply(backup("two", "ink"))
    found = await cluster.eventually("jobs/backup-two", exists())
    pod = found["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 70
    assert "pg_dump" in pod["containers"][0]["command"][2]
