"""Broken operators fail their tests: an operator that never works must not pass."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from sampan.core.gvk import GroupVersionResource
from sampan.informer.ref import Ref
from sampan.loops.resources import CONFIG_MAPS, SECRETS
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request, Result, RetryLater, TerminalError
from sampan.resource import ResourceInfo
from sampan.testing import Cluster
from sampan.testing.explore import explore, scenario
from sampan.testing.explore.explorer import ReferenceFailed
from sampan.testing.operator_failures import OperatorFailed

ADA = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ada"}}
Operator = Callable[[Manager], Any]


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


class _Raising(Predicate[Any]):
    def create(self, obj: Ref[Any]) -> bool:
        raise KeyError("spec")


def with_predicate(manager: Manager) -> None:
    async def reconcile(request: Request) -> None: ...

    Builder(manager).for_(CONFIG_MAPS, predicates=[_Raising()]).named("boats").complete(reconcile)


def with_map(manager: Manager) -> None:
    async def reconcile(request: Request) -> None: ...

    def crew(ref: Ref[Any]) -> list[Request]:
        raise LookupError("no crew")

    Builder(manager).for_(SECRETS).watches(CONFIG_MAPS, crew).named("boats").complete(reconcile)


ABSENT = ResourceInfo(GroupVersionResource("harbour.example.com", "v1", "boats"), "Boat", namespaced=True)
BROKEN: dict[str, tuple[Operator, str]] = {
    "raises": (
        reconciler(lambda _: _raise(ValueError("boom"))),
        "reconcile of default/ada by boats raised ValueError: boom",
    ),
    "returns 42": (reconciler(lambda _: 42), "raised TypeError: a reconciler returns a Result or None, not 42"),
    "blocks": (reconciler(lambda _: time.sleep(0.3)), "blocked the event loop for 0.3"),
    "no such kind": (
        reconciler(lambda manager: manager.client.resource(ABSENT).get("ada")),
        "raised NotFound",
    ),
    "predicate raises": (with_predicate, "event of default/ada for boats (kind source: configmaps) raised KeyError"),
    "map raises": (with_map, "event of default/ada for boats (kind source: configmaps) raised LookupError: no crew"),
}


@pytest.mark.parametrize(("operator", "cause"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_operator_fails_its_test(operator: Operator, cause: str, cluster: Cluster) -> None:
    running = cluster.run(operator)
    await cluster.apply(ADA)
    with pytest.raises(OperatorFailed) as caught:
        await cluster.settled()
    await running.crash()
    assert cause in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(("operator", "cause"), BROKEN.values(), ids=BROKEN)
def test_exploration_refuses_a_broken_operator(operator: Operator, cause: str) -> None:
    @scenario(operator)
    async def boats(cluster: Cluster) -> None:
        await cluster.apply(ADA)
        await cluster.settled()

    with pytest.raises(ReferenceFailed) as caught:
        explore(boats)
    assert cause in str(caught.value).splitlines()[0]


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
