"""The order of a write, and what each kind of write leaves out."""

import pytest

from sampan.registry.write.steps import PLANS, STEPS, WriteSteps
from sampan.registry.write.write import WriteKind

ORDER = [
    "read",
    "decode",
    "load",
    "preconditions",
    "change",
    "convert",
    "defaults",
    "managed fields",
    "mutating admission",
    "identity",
    "name",
    "prepare",
    "allocate",
    "validation",
    "authorize creation",
    "validating admission",
    "outcome",
    "encode",
    "store",
]


def _names(plan: WriteSteps, *, found: bool) -> list[str]:
    load = [] if plan.load is None else [plan.load]
    return [step.name for step in (*plan.once, *load, *(plan.found if found else plan.absent))]


def _without(*names: str) -> list[str]:
    return [name for name in ORDER if name not in names]


def test_the_order_of_a_write_is_that_of_kubernetes() -> None:
    assert [step.name for step in STEPS] == ORDER


@pytest.mark.parametrize("kind", list(WriteKind), ids=lambda kind: kind.name)
@pytest.mark.parametrize("found", [True, False], ids=["found", "absent"])
def test_every_write_keeps_the_order(kind: WriteKind, found: bool) -> None:
    names = _names(PLANS[kind], found=found)
    assert names == [name for name in ORDER if name in names]


def test_a_create_loads_nothing_and_was_authorized_as_one() -> None:
    skipped = ("load", "preconditions", "authorize creation", "outcome")
    assert _names(PLANS[WriteKind.CREATE], found=False) == _without(*skipped)


@pytest.mark.parametrize("kind", [WriteKind.UPDATE, WriteKind.APPLY], ids=lambda kind: kind.name)
def test_an_update_that_creates_is_authorized_before_validating_admission(kind: WriteKind) -> None:
    names = _names(PLANS[kind], found=False)
    assert names.index("validation") < names.index("authorize creation") < names.index("validating admission")
    assert names[-1] == "store"


def test_an_update_takes_all_steps_but_those_of_new_objects() -> None:
    assert _names(PLANS[WriteKind.UPDATE], found=True) == _without("name", "authorize creation")


def test_an_apply_owns_fields_in_its_change() -> None:
    assert _names(PLANS[WriteKind.APPLY], found=True) == _without("name", "authorize creation", "managed fields")


def test_a_deletion_is_admitted_before_the_object_is_marked() -> None:
    assert _names(PLANS[WriteKind.DELETE], found=True) == [
        "load",
        "preconditions",
        "mutating admission",
        "validating admission",
        "outcome",
        "encode",
        "store",
    ]


@pytest.mark.parametrize(
    "kind", [WriteKind.OWN_CREATE, WriteKind.OWN_UPDATE, WriteKind.OWN_DELETE], ids=lambda kind: kind.name
)
def test_writes_of_the_server_itself_pass_no_admission(kind: WriteKind) -> None:
    names = {*_names(PLANS[kind], found=True), *_names(PLANS[kind], found=False)}
    assert names.isdisjoint({"read", "decode", "mutating admission", "authorize creation", "validating admission"})


@pytest.mark.parametrize("kind", [WriteKind.CREATE, WriteKind.OWN_CREATE], ids=lambda kind: kind.name)
def test_another_generated_name_repeats_neither_change_nor_mutating_admission(kind: WriteKind) -> None:
    plan = PLANS[kind]
    assert plan.absent[0].name == "name"
    assert {"change", "identity"} <= {step.name for step in plan.once}


def test_a_retried_update_reads_the_body_once() -> None:
    assert [step.name for step in PLANS[WriteKind.UPDATE].once] == ["read", "decode"]
