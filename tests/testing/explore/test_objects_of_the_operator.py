"""Objects of an operator: one with a generated name that is made twice, and one without an owner."""

import asyncio
from types import SimpleNamespace

import pytest

from sampan.client import ListOptions, TransportError
from sampan.operator import Builder, Manager, Request
from sampan.testing import Cluster
from sampan.testing.explore import Report, Scenario, explore, scenario
from tests.operator.cluster import CONFIG_MAPS, SECRETS

BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}}


def case(*, live: bool, is_deleted: bool = False) -> Scenario:
    """Return a scenario of the operator; `live`: it reads from the server before it creates.

    `is_deleted`: the user deletes the object at the end.
    """

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            client = manager.client.direct if live else manager.client
            found = await client.resource(SECRETS, namespace="default").list(ListOptions(label_selector="of=box"))
            if request.name == "box" and not found.items:
                head = {"generateName": "key-", "namespace": "default", "labels": {"of": "box"}}
                await manager.client.resource(SECRETS).create({"apiVersion": "v1", "kind": "Secret", "metadata": head})

        Builder(manager).for_(CONFIG_MAPS).owns(SECRETS).complete(reconcile)

    @scenario(set_up)
    async def one_key(cluster: Cluster) -> None:
        await cluster.apply(BOX)
        if is_deleted:
            await cluster.settled()
            await cluster.delete("cm/box")

    return one_key


def test_a_restart_with_an_old_view_makes_a_second_object() -> None:
    found = {str(each.plan) for each in explore(case(live=False)).findings}
    assert found == {
        "the operator restarts, with its view from before create secrets key- by operator, "
        "when create secrets key- by operator is done"
    }


def test_a_live_read_prevents_it() -> None:
    assert not explore(case(live=True)).findings


@pytest.mark.parametrize(("count", "lines"), [(1, 0), (3, 2)], ids=str)
def test_findings_with_equal_differences_are_shown_once(count: int, lines: int) -> None:
    finding = explore(case(live=False)).findings[0]
    text = str(Report("one_key", findings=[finding] * count))
    assert text.count("without the fault") == 1
    assert text.count(f"    {finding.plan}") == lines
    assert (f"the same differences with {lines} more:" in text) == bool(lines)


@pytest.mark.parametrize("owned", [True, False], ids=["owned", "alone"])
def test_an_object_that_outlives_all_objects_of_the_user_is_a_note(owned: bool) -> None:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            box = await manager.client.resource(CONFIG_MAPS).find(request)
            if box is not None and request.name == "box":
                owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "box", "uid": box["metadata"]["uid"]}
                metadata = {"name": "key", "namespace": "default", "ownerReferences": [owner] if owned else []}
                await manager.client.resource(SECRETS).apply(
                    {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
                )

        Builder(manager).for_(CONFIG_MAPS).complete(reconcile)

    @scenario(set_up)
    async def made_and_deleted(cluster: Cluster) -> None:
        await cluster.apply(BOX)
        await cluster.settled()
        await cluster.delete("cm/box")

    report = explore(made_and_deleted, plans_max=1)
    assert list(report.survivors) == ([] if owned else ["secrets/default/key"])
    assert ("note: secrets/default/key outlives all objects of the user" in str(report)) == (not owned)


def test_an_object_of_a_user_that_exists_again_has_no_note() -> None:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            if request.name == "box":
                key = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "default"}}
                await manager.client.resource(SECRETS).apply(key)

        Builder(manager).for_(CONFIG_MAPS).complete(reconcile)

    @scenario(set_up)
    async def made_deleted_and_made(cluster: Cluster) -> None:
        await cluster.apply(BOX)
        await cluster.settled()
        await cluster.delete("cm/box")
        await cluster.apply(BOX)

    assert not explore(made_deleted_and_made, plans_max=1).survivors


def test_an_object_with_a_generated_name_that_outlives_all_objects_of_the_user_is_a_note() -> None:
    report = explore(case(live=True, is_deleted=True), plans_max=1)
    assert list(report.survivors) == ["secrets/default/key-#1"]


@pytest.mark.parametrize("delay_s", [None, 0.0, 0.01], ids=["endless-loop", "no-delay", "delay"])
def test_a_write_that_is_repeated_without_a_delay_is_found(delay_s: float | None) -> None:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            secrets = manager.client.resource(SECRETS, namespace="default")
            while request.name == "box":
                try:
                    await secrets.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}})
                    return
                except TransportError:
                    if delay_s is not None:
                        await asyncio.sleep(delay_s)

        Builder(manager).for_(CONFIG_MAPS).complete(reconcile)

    @scenario(set_up)
    async def one_secret(cluster: Cluster) -> None:
        await cluster.apply(BOX)

    found = [finding.differences for finding in explore(one_secret).findings if finding.plan.fault == "refused"]
    assert found == ([] if delay_s else [["50 attempts without a delay: patch secrets key"]])


def test_the_state_of_an_external_system_is_no_object_of_the_operator() -> None:
    def set_up(manager: Manager, system: SimpleNamespace) -> None:
        async def reconcile(request: Request) -> None:
            system.reconciled = True

        Builder(manager).for_(CONFIG_MAPS).complete(reconcile)

    @scenario(set_up, system=SimpleNamespace)
    async def made_and_deleted(cluster: Cluster, _: SimpleNamespace) -> None:
        await cluster.apply(BOX)
        await cluster.settled()
        await cluster.delete("cm/box")

    assert explore(made_and_deleted, plans_max=1).survivors == []
