"""The fault that an object which the operator needs is absent at first."""

import asyncio
from typing import Any

import pytest

from sampan.client import NotFound
from sampan.operator import Builder, Manager, Request
from sampan.testing import Cluster
from sampan.testing.explore import PlannedFault, Scenario, WriteId, explore, replay, scenario
from sampan.testing.explore.plan import ABSENT
from sampan.testing.explore.trial_run import run_trial
from tests.testing.bugs.store import CRD, MAPS, SECRETS, STORES, config_map, secret, store

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vault"}}
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner"}}


def absent(resource: str, name: str, namespace: str = "default") -> PlannedFault:
    return PlannedFault(ABSENT, WriteId("dependency", "create", resource, namespace, name, 1))


def copies(manager: Manager) -> None:
    """Copy the Secret of the namespace `vault` for each store."""

    async def reconcile(request: Request) -> None:
        if await manager.client.resource(STORES).find(request) is None:
            return
        found = await manager.client.resource(SECRETS, namespace="vault").get("password")
        await manager.client.resource(SECRETS).apply({**secret("copy"), "data": found["data"], "stringData": {}})

    Builder(manager).for_(STORES).complete(reconcile)


def of(operator: Any, *needs: Any, **options: Any) -> Scenario:
    """Return a scenario in which a user creates a store."""

    @scenario(operator, needs=needs, **options)
    async def one_store(cluster: Cluster) -> None:
        await cluster.apply(store())

    return one_store


@pytest.mark.parametrize(
    "plan", [absent("namespaces", "vault", ""), absent("secrets", "password", "vault")], ids=["namespace", "secret"]
)
def test_an_operator_that_repeats_its_reconcile_survives(plan: PlannedFault) -> None:
    needs = [NAMESPACE, secret("password", namespace="vault")]
    assert replay(of(copies, *needs, crds=[CRD]), plan) is None


def test_an_operator_survives_that_its_crd_comes_after_it() -> None:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            if await manager.client.resource(STORES).find(request) is not None:
                await manager.client.resource(MAPS).apply(config_map("made"))

        Builder(manager).for_(STORES).complete(reconcile)

    plan = absent("customresourcedefinitions", "stores.bugs.example.com", "")
    assert replay(of(set_up, CRD), plan) is None


def test_there_is_a_plan_for_each_object_that_is_needed() -> None:
    needs = [NAMESPACE, secret("password", namespace="vault"), ACCOUNT]
    found = [each.name for each in run_trial(of(copies, *needs, crds=[CRD])).needed]
    assert found == ["vault", "password", "runner"]


def test_the_operator_runs_without_the_object_for_a_while() -> None:
    found: list[tuple[float, bool]] = []

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            try:
                await manager.client.direct.resource(SECRETS).get("password")
            except NotFound:
                found.append((asyncio.get_running_loop().time(), False))
                raise
            found.append((asyncio.get_running_loop().time(), True))

        Builder(manager).for_(STORES).complete(reconcile)

    run_trial(of(set_up, secret("password"), crds=[CRD]), absent("secrets", "password"))
    assert [is_there for _, is_there in found[:1] + found[-1:]] == [False, True]
    assert found[-1][0] - found[0][0] > 20


def test_a_write_of_the_user_to_the_absent_object_waits_for_it() -> None:
    async def nothing() -> None:
        await asyncio.get_running_loop().create_future()

    @scenario(nothing, needs=[config_map("settings", {"mode": "fast"})])
    async def change(cluster: Cluster) -> None:
        await cluster.patch("cm/settings", {"data": {"mode": "slow"}})

    assert replay(change, absent("configmaps", "settings")) is None


def test_an_error_with_which_the_operator_ends_is_a_finding() -> None:
    def set_up(manager: Manager) -> None:
        async def read() -> None:
            await manager.client.direct.resource(SECRETS).get("password")

        Builder(manager).for_(STORES).complete(reconcile)
        manager.add(read)

    async def reconcile(request: Request) -> None:
        return None

    findings = explore(of(set_up, secret("password"), crds=[CRD])).findings
    (finding,) = (each for each in findings if each.plan.fault == ABSENT)
    assert "NotFound" in finding.differences[0]
