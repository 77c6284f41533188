"""Broken operators fail their tests: an operator that never works must not pass."""

from collections.abc import Callable
from typing import Any

import pytest

from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request, Result, RetryLater, TerminalError
from sampan.testing import Cluster
from sampan.testing.campaign import BaseFailed, Campaign, run_campaign
from sampan.testing.explore import Scenario, explore, scenario
from sampan.testing.explore.explorer import ReferenceFailed
from sampan.testing.operators.failures import OperatorFailed
from tests.testing.broken.harm import password_overwritten
from tests.testing.broken.never_work import CASES
from tests.testing.broken.parts import ADA, Operator


def reconciler(work: Callable[[Manager], Any]) -> Operator:
    """An operator for ConfigMaps whose reconciler does this."""

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> Any:
            found = work(manager)
            return await found if hasattr(found, "__await__") else found

        Builder(manager).for_(CONFIG_MAPS).named("boats").complete(reconcile)

    return set_up


def _raise(error: Exception) -> Any:
    raise error


Case = Callable[..., Operator]
CAUSES = pytest.mark.parametrize(("case", "cause"), CASES.values(), ids=CASES)


@CAUSES
async def test_a_broken_operator_fails_its_test(case: Case, cause: str, cluster: Cluster) -> None:
    running = cluster.run(case(repaired=False))
    with pytest.raises(Exception) as caught:
        await _used(cluster)
    await running.crash()
    assert cause in first_line(caught.value)


async def _used(cluster: Cluster) -> None:
    await cluster.apply(ADA)
    await cluster.advance(seconds=2)
    await cluster.settled()


def _scenario(operator: Operator) -> Scenario:
    @scenario(operator)
    async def boats(cluster: Cluster) -> None:
        await cluster.apply(ADA)
        await cluster.settled()

    return boats


@CAUSES
def test_exploration_refuses_a_broken_operator(case: Case, cause: str) -> None:
    with pytest.raises(ReferenceFailed) as caught:
        explore(_scenario(case(repaired=False)))
    assert cause in first_line(caught.value)


@CAUSES
def test_a_campaign_refuses_a_broken_operator(case: Case, cause: str) -> None:
    with pytest.raises(BaseFailed) as caught:
        run_campaign(Campaign(case(repaired=False), ADA, values={"data.length": ["41"]}))
    assert cause in first_line(caught.value)


@pytest.mark.parametrize("case", [case for case, _ in CASES.values()], ids=CASES)
async def test_a_repaired_operator_passes_its_test(case: Case, cluster: Cluster) -> None:
    cluster.run(case(repaired=True))
    await _used(cluster)
    assert cluster.requests.by("operator").writes


def first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if not isinstance(error, LookupError) else f"LookupError: {error}"


@pytest.mark.parametrize("error", [RetryLater("no crew yet"), TerminalError("no such port")], ids=["later", "terminal"])
async def test_an_operator_may_report_that_it_cannot_work(error: Exception, cluster: Cluster) -> None:
    cluster.run(reconciler(lambda _: _raise(error)))
    await cluster.apply(ADA)
    await cluster.settled()


async def test_a_reconcile_of_a_deleted_object_may_not_find_it(cluster: Cluster) -> None:
    async def work(manager: Manager) -> None:
        await manager.client.resource(CONFIG_MAPS).get("ada")

    cluster.run(reconciler(work))
    await cluster.apply(ADA)
    await cluster.settled()
    await cluster.delete("configmaps/ada")
    await cluster.settled()


async def test_a_race_is_excused_if_a_later_reconcile_succeeds(cluster: Cluster) -> None:
    attempts: list[int] = []

    async def work(manager: Manager) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            await manager.client.resource(SECRETS).get("absent")

    cluster.run(reconciler(work))
    await cluster.apply(ADA)
    await cluster.settled()
    assert len(attempts) == 2


@pytest.mark.cluster(allow_errors=(ValueError,))
async def test_allowed_errors_do_not_fail_the_test(cluster: Cluster) -> None:
    cluster.run(reconciler(lambda _: _raise(ValueError("boom"))))
    await cluster.apply(ADA)
    await cluster.settled()


def test_a_scenario_without_a_request_of_the_operator_is_an_error() -> None:
    @scenario(lambda manager: None)
    async def nothing(cluster: Cluster) -> None:
        await cluster.apply(ADA)

    with pytest.raises(ReferenceFailed, match="the operator sent no request"):
        explore(nothing)


async def test_the_message_has_the_traceback(cluster: Cluster) -> None:
    running = cluster.run(reconciler(lambda _: _raise(ValueError("boom"))))
    await cluster.apply(ADA)
    with pytest.raises(OperatorFailed, match="test_broken_operators"):
        await cluster.settled()
    await running.crash()


async def test_an_event_whose_map_function_raised_is_mapped_again(cluster: Cluster) -> None:
    done: list[Request] = []
    attempts: list[int] = []

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> Result | None:
            done.append(request)
            return None

        def crew(ref: Ref[Any]) -> list[Request]:
            attempts.append(1)
            if len(attempts) < 3:
                raise NotFoundYet("crew")
            return [Request("default", "crew")]

        Builder(manager).for_(SECRETS).watches(CONFIG_MAPS, crew).named("boats").complete(reconcile)

    cluster.run(set_up)
    await cluster.apply(ADA)
    with pytest.raises(OperatorFailed, match="NotFoundYet"):
        await cluster.settled()
    assert len(attempts) == 3
    assert done == [Request("default", "crew")]


class NotFoundYet(Exception):
    pass


@pytest.mark.cluster(allow_errors=True)
async def test_a_manager_lists_the_objects_that_an_index_lacks(cluster: Cluster) -> None:
    running = cluster.run(CASES["index function raises"][0](repaired=False))
    await cluster.apply(ADA)
    await cluster.settled()
    assert running.manager is not None
    [failing] = running.manager.failing()
    assert (failing.key, failing.source, failing.error) == (
        "default/ada",
        "index crew of configmaps",
        "KeyError: 'crew'",
    )


@pytest.mark.parametrize("repaired", [False, True])
async def test_a_restart_finds_an_operator_that_draws_a_password_again(repaired: bool, cluster: Cluster) -> None:
    cluster.run(password_overwritten(repaired=repaired))
    await cluster.apply(ADA)
    await cluster.settled()
    if repaired:
        await cluster.assert_idempotent()
        return
    with pytest.raises(AssertionError) as caught:
        await cluster.assert_idempotent()
    assert first_line(caught.value) == "a restart of the operators changed secrets/ada:"
