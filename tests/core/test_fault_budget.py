"""Limits of field errors: validation stops at a limit, and the response shows the first errors."""

from collections.abc import Iterator

import pytest

from sampan.core.errors import CAUSES_CHARACTERS_MAX, CAUSES_MAX, invalid, listed
from sampan.core.field import (
    FAULTS_CHARACTERS_MAX,
    FAULTS_MAX,
    VALUE_CHARACTERS_MAX,
    FieldError,
    Path,
    TooManyFaults,
    begin_budget,
    bounded,
    uncounted,
)
from sampan.core.field import invalid as invalid_value
from sampan.core.gvk import GroupKind

KIND = GroupKind("", "Pod")
PATH = Path("spec")


def fault(index: int = 0, value: object = "v", detail: str = "no") -> FieldError:
    return invalid_value(PATH.index(index), value, detail)


def test_check_stops_at_the_limit_of_errors() -> None:
    made = 0

    def check() -> list[FieldError]:
        nonlocal made
        found = []
        for index in range(100 * FAULTS_MAX):
            made += 1
            found.append(fault(index))
        return found

    assert len(bounded(check)) == made == FAULTS_MAX


def test_check_stops_at_the_limit_of_text() -> None:
    detail = "x" * (FAULTS_CHARACTERS_MAX // 4)
    assert len(bounded(lambda: [fault(index, detail=detail) for index in range(FAULTS_MAX)])) == 4


def test_check_below_the_limit_returns_all_errors() -> None:
    found = [fault(1), fault(2)]
    assert bounded(lambda: found) is found


async def test_request_is_stopped_wherever_it_creates_errors() -> None:
    begin_budget()
    with pytest.raises(TooManyFaults) as stopped:
        [fault(index) for index in range(FAULTS_MAX)]
    assert len(stopped.value.faults) == FAULTS_MAX


async def test_errors_that_may_be_dropped_do_not_count() -> None:
    begin_budget()
    with uncounted():
        assert len([fault(index) for index in range(2 * FAULTS_MAX)]) == 2 * FAULTS_MAX


def test_response_shows_the_first_errors_and_counts_the_rest() -> None:
    error = invalid(KIND, "a", [fault(index) for index in range(CAUSES_MAX + 23)])
    assert error.details is not None
    assert len(error.details["causes"]) == CAUSES_MAX
    assert error.message.endswith('spec[99]: Invalid value: "v": no, and 23 more]')


def test_response_reports_that_a_check_was_stopped() -> None:
    error = invalid(KIND, "a", bounded(lambda: [fault(index) for index in range(FAULTS_MAX)]))
    assert error.message.endswith(f", and at least {FAULTS_MAX - CAUSES_MAX} more]")


def test_response_has_a_size_limit() -> None:
    error = invalid(KIND, "a", [fault(index, "v" * VALUE_CHARACTERS_MAX) for index in range(CAUSES_MAX)])
    assert len(error.message) < CAUSES_CHARACTERS_MAX + 2 * VALUE_CHARACTERS_MAX
    assert error.message.endswith(" more]")


def test_long_value_is_truncated() -> None:
    assert (
        fault(value="v" * (VALUE_CHARACTERS_MAX + 1)).body() == f'Invalid value: "{"v" * VALUE_CHARACTERS_MAX}...": no'
    )


@pytest.mark.parametrize(("count", "end"), [(1, "t"), (CAUSES_MAX, "t"), (CAUSES_MAX + 7, "and 7 more")])
def test_long_lists_in_messages_are_truncated(count: int, end: str) -> None:
    assert listed(["t"] * count).split(", ")[-1] == end


@pytest.fixture(autouse=True)
def no_budget() -> Iterator[None]:
    with uncounted():
        yield
