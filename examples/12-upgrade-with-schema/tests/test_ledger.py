"""Tests of upgrades. Each test has a separate API server, in virtual time, with the loops that run Pods."""

import pytest
from sampan.testing import Cluster, exists, field, has_condition
from worlds import LOOPS, ledger, migration, operate, phase, serving, start, want

pytestmark = pytest.mark.cluster(loops=LOOPS)


async def test_an_upgrade_passes_through_all_phases(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 2)
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)
    states = [write.after for write in cluster.journal.writes if "/ledgers/" in write.key and write.after is not None]
    phases = [state["status"]["phase"] for state in states if "status" in state]
    assert list(dict.fromkeys(phases)) == ["Start", "Done", "Backup", "Drain", "Migrate", "Roll", "Verify"]
    await cluster.settled()
    assert await serving(cluster) == ("2", "/data/ledger-1.db", "2")


async def test_an_upgrade_waits_until_the_first_version_serves(cluster: Cluster) -> None:
    cluster.pods.never_ready("tea-0")
    await operate(cluster)
    await cluster.apply(ledger())
    await phase(cluster, "Start")
    await want(cluster, 2)
    await cluster.advance(hours=1)
    found = await cluster.get("ledgers/tea")
    assert (found["status"]["phase"], await cluster.list("jobs")) == ("Start", [])
    assert "version 1 has not served yet" in found["status"]["conditions"][0]["message"]
    cluster.pods.ready_after("tea-0")
    await cluster.delete("pods/tea-0")
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)


async def test_a_version_is_skipped_by_the_steps_between(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 3)
    await cluster.eventually("ledgers/tea", field(".status.version") == 3)
    assert (await cluster.get("ledgers/tea"))["status"]["path"] == ["tea-1-2", "tea-2-3"]
    job = await cluster.get("jobs/tea-migrate-1")
    [sql] = [each["value"] for each in environment(job) if each["name"] == "SQL"]
    assert sql.endswith("INSERT INTO schema_version VALUES (3);\nCOMMIT;")


def environment(job: dict[str, object]) -> list[dict[str, str]]:
    """Return the environment of a Job."""
    found: list[dict[str, str]] = job["spec"]["template"]["spec"]["containers"][0]["env"]  # type: ignore[index]  # JSON
    return found


async def test_the_shortest_path_wins(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(migration(1, 3))
    await want(cluster, 3)
    await cluster.eventually("ledgers/tea", field(".status.version") == 3)
    assert (await cluster.get("ledgers/tea"))["status"]["path"] == ["tea-1-3"]


async def test_a_ledger_waits_for_a_path(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 4)
    await cluster.eventually("ledgers/tea", has_condition("Ready", "False"))
    assert "no migrations lead" in str(await cluster.get("ledgers/tea"))
    assert await serving(cluster) == ("1", "/data/ledger-0.db", "1")
    await cluster.apply(migration(3, 4))
    await cluster.eventually("ledgers/tea", field(".status.version") == 4)


async def test_the_application_is_drained_before_the_migration(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 2)
    job = await cluster.eventually("jobs/tea-migrate-1", exists())
    pods = await cluster.list("pods", selector="upgrades.example.com/ledger=tea")
    assert (pods, job["metadata"]["name"]) == ([], "tea-migrate-1")


async def test_clients_do_not_reach_a_version_that_is_not_verified(cluster: Cluster) -> None:
    await start(cluster)
    cluster.pods.never_ready("tea-0")
    await want(cluster, 2)
    await phase(cluster, "Verify")
    assert (await serving(cluster))[2] == "1"


async def test_a_version_that_does_not_serve_is_rolled_back(cluster: Cluster) -> None:
    await start(cluster)
    cluster.pods.never_ready("tea-0")
    await want(cluster, 2)
    await phase(cluster, "Verify")
    await cluster.advance(seconds=5)
    cluster.pods.ready_after("tea-0")
    found = await phase(cluster, "RolledBack")
    assert "version 2 does not serve" in found["conditions"][0]["message"]
    await cluster.settled()
    assert (found["version"], await serving(cluster)) == (1, ("1", "/data/ledger-0.db", "1"))


async def test_a_version_that_crashes_is_never_committed(cluster: Cluster) -> None:
    await start(cluster)
    cluster.pods.crash("tea-0", after=1)
    await want(cluster, 2)
    await phase(cluster, "RollBack")
    assert (await cluster.get("ledgers/tea"))["status"]["version"] == 1


@pytest.mark.parametrize("job", ["backup", "migrate"])
async def test_a_job_that_fails_leads_back(cluster: Cluster, job: str) -> None:
    await start(cluster)
    cluster.pods.complete(f"tea-{job}-*", exit_code=1, message="no such table: entries")
    await want(cluster, 2)
    found = await phase(cluster, "RolledBack")
    assert "no such table: entries" in found["conditions"][0]["message"]
    await cluster.settled()
    assert await serving(cluster) == ("1", "/data/ledger-0.db", "1")


async def test_a_condition_of_another_client_does_not_hide_the_reason_of_the_way_back(cluster: Cluster) -> None:
    await start(cluster)
    conditions = (await cluster.get("ledgers/tea"))["status"]["conditions"]
    other = {**conditions[0], "type": "Inspected", "message": "by the harbour master"}
    await cluster.patch("ledgers/tea", {"status": {"conditions": [other, *conditions]}}, subresource="status")
    cluster.pods.complete("tea-migrate-*", exit_code=1, message="no such table: entries")
    await want(cluster, 2)
    found = await phase(cluster, "RolledBack")
    messages = {each["type"]: each["message"] for each in found["conditions"]}
    assert "no such table: entries" in messages["Ready"]
    assert messages["Inspected"] == "by the harbour master"


async def test_a_failed_upgrade_is_tried_again_after_a_change_only(cluster: Cluster) -> None:
    await start(cluster)
    cluster.pods.complete("tea-migrate-*", exit_code=1)
    await want(cluster, 2)
    await phase(cluster, "RolledBack")
    cluster.pods.complete("tea-migrate-*")
    await cluster.advance(hours=1)
    assert (await cluster.get("ledgers/tea"))["status"]["attempt"] == 1
    await cluster.patch("ledgers/tea", {"spec": {"verifySeconds": 40}})
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)
    await cluster.settled()
    assert await serving(cluster) == ("2", "/data/ledger-2.db", "2")


@pytest.mark.parametrize("moment", ["Backup", "Drain", "Migrate", "Roll", "Verify"])
@pytest.mark.parametrize("other", [1, 3])
async def test_a_user_can_choose_another_version_at_any_moment(cluster: Cluster, moment: str, other: int) -> None:
    await start(cluster)
    await want(cluster, 2)
    await phase(cluster, moment)
    await want(cluster, other)
    await cluster.eventually("ledgers/tea", has_condition("Ready", reason="Done"))
    await cluster.settled()
    version, _, reached = await serving(cluster)
    assert (version, reached) == (str(other), str(other))


async def test_the_old_version_can_be_chosen_again_after_the_commit(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 2)
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)
    await want(cluster, 1)
    await cluster.eventually("ledgers/tea", field(".status.version") == 1)
    assert (await serving(cluster))[1] == "/data/ledger-2.db"


async def test_a_pause_stops_between_two_phases(cluster: Cluster) -> None:
    await start(cluster)
    await want(cluster, 2)
    await phase(cluster, "Drain")
    await cluster.patch("ledgers/tea", {"metadata": {"annotations": {"upgrades.example.com/pause": "true"}}})
    await cluster.advance(hours=1)
    found = (await cluster.get("ledgers/tea"))["status"]
    assert found["phase"] in ("Drain", "Migrate")
    assert "paused" in found["conditions"][0]["message"]
    await cluster.patch("ledgers/tea", {"metadata": {"annotations": {"upgrades.example.com/pause": None}}})
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.assert_idempotent()


async def test_drift_is_repaired(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.patch("statefulsets/tea", {"spec": {"replicas": 3}})
    await cluster.eventually("statefulsets/tea", field(".spec.replicas") == 1)


async def test_a_new_ledger_begins_with_its_version(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.delete("ledgers/tea")
    await cluster.settled()
    await cluster.apply(ledger(3))
    found = await phase(cluster, "Done")
    assert (found["version"], found.get("attempt", 0)) == (3, 0)
