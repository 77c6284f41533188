"""The seats of levels: shares, lending and borrowing."""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.kinds.flowcontrol.bootstrap import flow_schemas, priority_levels
from sampan.server.flow_control.borrowing import rebalance
from sampan.server.flow_control.configuration import EffectiveConfiguration, digest
from sampan.server.flow_control.priority_level import PriorityLevel
from tests.server.flow_control.sets import Clock, flow, start


def named(specs: dict[str, Object]) -> list[Object]:
    return [{"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec} for name, spec in specs.items()]


def level(name: str, shares: int, **limited: Any) -> Object:
    spec = {"nominalConcurrencyShares": shares, "limitResponse": {"type": "Reject"}, **limited}
    return {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": spec}}


def configured(
    clock: Clock,
    levels: list[Object],
    schemas: list[Object] | None = None,
    before: EffectiveConfiguration | None = None,
) -> EffectiveConfiguration:
    found = digest(
        levels,
        schemas or [],
        before.levels if before else {},
        make=lambda obj: PriorityLevel(obj, clock, clock.later),
        seats=600,
    )
    rebalance(found.levels.values())
    return found


def test_the_default_levels_share_600_seats() -> None:
    levels = configured(Clock(), named(priority_levels()), named(flow_schemas())).levels
    nominal = {name: found.nominal for name, found in levels.items()}
    assert nominal == {
        "exempt": 0, "catch-all": 13, "global-default": 49, "leader-election": 25, "node-high": 98, "system": 74,
        "workload-high": 98, "workload-low": 245,
    }  # fmt: skip
    assert (levels["system"].lower, levels["system"].upper) == (50, 674)
    assert (levels["global-default"].seats_max, levels["leader-election"].seats_max) == (8, 4)


def test_without_objects_there_are_the_mandatory_ones() -> None:
    found = configured(Clock(), [])
    assert sorted(found.levels) == ["catch-all", "exempt"]
    assert [schema.name for schema in found.schemas] == ["exempt", "catch-all"]


def test_a_schema_without_its_level_is_dangling_and_not_used() -> None:
    schema = {"metadata": {"name": "s"}, "spec": {"priorityLevelConfiguration": {"name": "none"}, "rules": []}}
    found = configured(Clock(), [], [schema])
    assert [(obj["metadata"]["name"], name, there) for obj, name, there in found.dangling] == [("s", "none", False)]
    assert "s" not in [one.name for one in found.schemas]


def test_schemas_are_ordered_by_precedence_then_by_name() -> None:
    found = configured(Clock(), named(priority_levels()), named(dict(reversed(flow_schemas().items()))))
    assert [schema.name for schema in found.schemas] == list(flow_schemas())


def test_a_deleted_level_is_removed_when_it_is_idle() -> None:
    clock = Clock()
    first = configured(clock, [level("mine", 10)])
    ticket = start(first.levels["mine"].queue_set, flow())
    second = configured(clock, [], before=first)
    assert second.levels["mine"].undesired
    second.levels["mine"].queue_set.finish(ticket)
    assert "mine" not in configured(clock, [], before=second).levels


def test_requests_of_a_level_continue_when_its_object_changes() -> None:
    clock = Clock()
    first = configured(clock, [level("mine", 10)])
    start(first.levels["mine"].queue_set, flow())
    second = configured(clock, [level("mine", 20)], before=first)
    assert second.levels["mine"].queue_set.executing == 1


def test_a_busy_level_borrows_what_another_lends_and_gives_it_back() -> None:
    clock = Clock()
    found = configured(clock, [level("busy", 50), level("idle", 50, lendablePercent=80)]).levels
    busy, idle = found["busy"], found["idle"]
    nominal = busy.nominal
    tickets = [start(busy.queue_set, flow()) for _ in range(busy.current)]
    clock.advance(10)
    rebalance(found.values())
    assert busy.current > nominal
    assert idle.current < nominal
    for ticket in tickets:
        busy.queue_set.finish(ticket)
    started = [idle.queue_set.start(flow(), ticket.work) for ticket in tickets]
    assert any(started)
    clock.advance(10)
    rebalance(found.values())
    clock.advance(10)
    rebalance(found.values())
    assert idle.current >= sum(ticket is not None for ticket in started)


def test_a_borrowing_limit_holds() -> None:
    clock = Clock()
    found = configured(
        clock, [level("busy", 50, borrowingLimitPercent=10), level("idle", 50, lendablePercent=80)]
    ).levels
    for _ in range(found["busy"].current):
        start(found["busy"].queue_set, flow())
    clock.advance(10)
    rebalance(found.values())
    assert found["busy"].current <= round(found["busy"].nominal * 1.1)


@pytest.mark.parametrize("running", [0, 40])
def test_seats_of_exempt_requests_reduce_those_of_other_levels(running: int) -> None:
    clock = Clock()
    found = configured(clock, named(priority_levels())).levels
    for _ in range(running):
        start(found["exempt"].queue_set, flow())
    clock.advance(10)
    rebalance(found.values())
    assert found["exempt"].current == running
