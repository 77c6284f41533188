"""The faults that an object which the operator needs is deleted later."""

import asyncio
from typing import Any

import pytest

from sampan.operator import Builder, Manager, Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import PlannedFault, Scenario, WriteId, explore, replay, scenario
from sampan.testing.explore.deletions import MOMENTS_MAX, deletions
from sampan.testing.explore.outcome import Outcome
from sampan.testing.explore.plan import DELETIONS, REMOVED, VANISHED, read_replay, replay_text
from sampan.testing.explore.trial_run import run_trial
from tests.testing.bugs.store import CRD, MAPS, SECRETS, STORES, config_map, secret, store

PASSWORD = WriteId("dependency", "create", "secrets", "default", "password", 1)
CREATION = WriteId("test", "patch", "stores", "default", "s", 1)
READ = WriteId("operator", "get", "secrets", "default", "password", 1)


def copies(manager: Manager) -> None:
    """Copy the Secret for each store, as often as its reconcile fails."""

    async def reconcile(request: Request) -> None:
        if await manager.client.resource(STORES).find(request) is not None:
            found = await manager.client.direct.resource(SECRETS).get("password")
            await manager.client.resource(MAPS).apply(config_map("copy", {"labels": str(found["metadata"]["labels"])}))

    Builder(manager).for_(STORES).complete(reconcile)


def of(operator: Any, *needs: Any, **options: Any) -> Scenario:
    """Return a scenario in which a user creates and changes a store."""

    @scenario(operator, needs=needs, crds=[CRD], **options)
    async def one_store(cluster: Cluster) -> None:
        await cluster.apply(store(size=1))
        await cluster.settled()
        await cluster.apply(store(size=2))

    return one_store


def labelled() -> Object:
    """Return a Secret with a label."""
    found = secret("password")
    found["metadata"]["labels"] = {"a": "b"}
    return found


def test_an_operator_that_repeats_its_reconcile_survives_deletions_at_all_moments() -> None:
    report = explore(of(copies, labelled()))
    assert (report.findings, report.missed) == ([], 0)


def test_the_object_is_created_again_with_the_same_content_after_30_seconds() -> None:
    outcome = run_trial(of(copies, labelled()), PlannedFault(VANISHED, PASSWORD, CREATION), logged=True)
    made = outcome.state["/registry/secrets/default/password"]
    assert made["metadata"]["labels"] == {"a": "b"}
    assert [line for line in outcome.story if "password" in line] == [
        "created secrets/default/password",
        "deleted secrets/default/password",
        "created secrets/default/password",
    ]


def test_an_object_may_be_deleted_after_the_operator_has_read_it() -> None:
    outcome = run_trial(of(copies, labelled()), PlannedFault(VANISHED, PASSWORD, READ))
    story = list(outcome.story)
    assert story.index("deleted secrets/default/password") < story.index("created configmaps/default/copy")


def test_a_removed_object_stays_away() -> None:
    outcome = run_trial(of(copies, labelled()), PlannedFault(REMOVED, PASSWORD, CREATION))
    assert "/registry/secrets/default/password" not in outcome.state
    assert outcome.error == ""


def test_a_removed_object_comes_back_when_the_user_refers_to_it() -> None:
    async def nothing() -> None:
        await asyncio.get_running_loop().create_future()

    @scenario(nothing, crds=[CRD], needs=[labelled()])
    async def change(cluster: Cluster) -> None:
        await cluster.apply(store(size=1))
        await cluster.patch("secrets/password", {"metadata": {"labels": {"a": "c"}}})

    assert replay(change, PlannedFault(REMOVED, PASSWORD, CREATION)) is None


def test_an_operator_that_ends_without_a_removed_object_is_a_finding() -> None:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            return None

        async def check() -> None:
            while True:
                await manager.client.direct.resource(SECRETS).get("password")
                await asyncio.sleep(60)

        Builder(manager).for_(STORES).complete(reconcile)
        manager.add(check)

    finding = replay(of(set_up, labelled()), PlannedFault(REMOVED, PASSWORD, CREATION))
    assert finding is not None
    assert "NotFound" in finding.differences[0]


def test_an_object_with_a_finalizer_is_not_deleted() -> None:
    protected = labelled()
    protected["metadata"]["finalizers"] = ["bugs.example.com/in-use"]
    assert not run_trial(of(copies, protected), PlannedFault(VANISHED, PASSWORD, CREATION)).fired


def moments(*numbers: int) -> list[WriteId]:
    """Return writes of the operator to ConfigMaps."""
    return [WriteId("operator", "create", "configmaps", "default", f"m{number}", 1) for number in numbers]


def reference(*found: WriteId, needs: tuple[WriteId, ...] = (PASSWORD,)) -> Outcome:
    """Return a run with these moments."""
    return Outcome({}, {}, {}, (), "", (), (), needed=needs, moments=found)


def test_the_number_of_deletions_of_an_object_is_bounded() -> None:
    plans = list(deletions(reference(*moments(*range(100))), ()))
    vanished = [plan.until for plan in plans if plan.fault == VANISHED]
    assert (len(vanished), len(plans)) == (MOMENTS_MAX, MOMENTS_MAX + 2)
    assert [vanished[0], vanished[-1]] == moments(0, 99)


def test_an_object_is_not_deleted_after_its_own_deletion() -> None:
    deletion = WriteId("test", "delete", "secrets", "default", "password", 1)
    plans = list(deletions(reference(*moments(1), deletion, *moments(2)), ()))
    assert {plan.until for plan in plans} == set(moments(1))


@pytest.mark.parametrize("resource", ["namespaces", "customresourcedefinitions"])
def test_namespaces_and_crds_are_not_deleted(resource: str) -> None:
    need = WriteId("dependency", "create", resource, "", "x", 1)
    assert list(deletions(reference(*moments(1), needs=(need,)), ())) == []


@pytest.mark.parametrize("fault", DELETIONS)
def test_a_replay_file_has_the_object_and_the_moment(fault: str) -> None:
    plan = PlannedFault(fault, PASSWORD, READ)
    assert read_replay(replay_text("a", plan)) == ("a", plan)


def test_a_plan_names_the_object_and_the_moment() -> None:
    ends = ("the object of create secrets password by dependency", "after get secrets password by operator is done")
    assert str(PlannedFault(VANISHED, PASSWORD, READ)) == f"{ends[0]} is deleted for 30 s, {ends[1]}"


def test_reads_of_another_object_are_no_moments() -> None:
    other = WriteId("operator", "get", "configmaps", "default", "settings", 1)
    assert {plan.until for plan in deletions(reference(other, READ), ())} == {READ}
