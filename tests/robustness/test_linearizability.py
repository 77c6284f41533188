"""The checker of calls finds what is planted, and nothing in what is right."""

from dataclasses import replace

import pytest

from tests.robustness.history import FOREVER, Call, Event, Kind, Outcome, log_of
from tests.robustness.linearizability import anomalies

CREATE = Call(Kind.CREATE, "a", 0, 1, Outcome.DONE, "1", 0, 5)
UPDATE = Call(Kind.UPDATE, "a", 2, 3, Outcome.DONE, "2", 5, 6)
DELETE = Call(Kind.DELETE, "a", 4, 5, Outcome.DONE, "", 6)
OTHER = Call(Kind.CREATE, "b", 6, 7, Outcome.DONE, "3", 0, 8)
CALLS = (CREATE, UPDATE, DELETE, OTHER)
LOG = log_of([(5, "a", "1"), (6, "a", "2"), (7, "a", None), (8, "b", "3")])


def get(begin: float, end: float, revision: int, value: str, key: str = "a") -> Call:
    return Call(Kind.GET, key, begin, end, Outcome.DONE, value, 0, revision)


def missing(begin: float, end: float, key: str = "a") -> Call:
    return Call(Kind.GET, key, begin, end, Outcome.MISSING)


def listed(begin: float, end: float, revision: int, **items: tuple[int, str]) -> Call:
    return Call(Kind.LIST, "", begin, end, Outcome.DONE, revision=revision, items=items)


def refused(kind: Kind, outcome: Outcome, begin: float, end: float, expected: int = 0) -> Call:
    return Call(kind, "a", begin, end, outcome, "never", expected)


RIGHT: dict[str, Call] = {
    "a read of what was written": get(3.1, 3.2, 6, "2"),
    "a read during the write of what was before": get(2.5, 3.5, 5, "1"),
    "a read during the write of what is after": get(2.1, 2.2, 6, "2"),
    "missing before": missing(0.1, 0.2),
    "missing after": missing(5.5, 6),
    "a list": listed(3.2, 3.3, 6, a=(6, "2")),
    "a list of nothing": listed(0.1, 0.2, 4),
    "a list while something is made": listed(6.1, 6.2, 8, b=(8, "3")),
    "exists": refused(Kind.CREATE, Outcome.EXISTS, 1.5, 1.6),
    "conflict": refused(Kind.UPDATE, Outcome.CONFLICT, 3.5, 3.6, 5),
    "unknown and not written": refused(Kind.UPDATE, Outcome.UNKNOWN, 3.5, FOREVER, 6),
    "not done and not written": refused(Kind.UPDATE, Outcome.NOT_DONE, 3.5, 3.6, 6),
}

WRONG: dict[str, tuple[Call, str]] = {
    "stale read": (get(3.1, 3.2, 5, "1"), "no time"),
    "stale list": (listed(3.1, 3.2, 5, a=(5, "1")), "no time"),
    "read before the write": (get(1.1, 1.2, 6, "2"), "no time"),
    "read of what nobody wrote": (get(3.1, 3.2, 9, "x"), "never written"),
    "read of another value": (get(3.1, 3.2, 6, "1"), "never written"),
    "a list that lacks something": (listed(3.1, 3.2, 6), "wrong about"),
    "a list that has too much": (listed(5.1, 5.2, 7, a=(6, "2")), "wrong about"),
    "lost create": (Call(Kind.CREATE, "c", 0, 1, Outcome.DONE, "lost", 0, 9), "lost"),
    "lost delete": (Call(Kind.DELETE, "b", 8, 9, Outcome.DONE, "", 8), "lost"),
    "missing though present": (missing(3.1, 3.9), "without a reason"),
    "exists though missing": (refused(Kind.CREATE, Outcome.EXISTS, 5.1, 5.9), "without a reason"),
    "conflict though at the revision": (refused(Kind.UPDATE, Outcome.CONFLICT, 3.1, 3.9, 6), "without a reason"),
    "deleted twice": (replace(DELETE, begin=4.1), "deleted twice"),
}


def test_a_right_history_is_linearizable() -> None:
    assert anomalies(CALLS, LOG) == []


@pytest.mark.parametrize("call", RIGHT.values(), ids=RIGHT)
def test_possible_calls_are_accepted(call: Call) -> None:
    assert anomalies([*CALLS, call], LOG) == []


@pytest.mark.parametrize(("call", "expected"), WRONG.values(), ids=WRONG)
def test_impossible_calls_are_found(call: Call, expected: str) -> None:
    found = anomalies([*CALLS, call], LOG)
    assert found
    assert expected in found[0]


def test_a_write_of_unknown_outcome_may_have_happened_at_any_time_after() -> None:
    unknown = replace(OTHER, begin=0, end=FOREVER, outcome=Outcome.UNKNOWN, revision=0)
    assert anomalies([CREATE, UPDATE, DELETE, unknown, get(9, 10, 8, "3", "b"), missing(7, 8, "b")], LOG) == []


def test_a_write_of_unknown_outcome_did_not_happen_before_it_was_requested() -> None:
    unknown = replace(OTHER, begin=9, end=FOREVER, outcome=Outcome.UNKNOWN, revision=0)
    assert "no time" in anomalies([CREATE, UPDATE, DELETE, unknown, get(7, 8, 8, "3", "b")], LOG)[0]


@pytest.mark.parametrize("outcome", [Outcome.NOT_DONE, Outcome.CONFLICT])
def test_a_refused_write_must_not_be_stored(outcome: Outcome) -> None:
    found = anomalies([CREATE, UPDATE, DELETE, replace(OTHER, outcome=outcome)], LOG)
    assert "refused, and written" in found[0]


def test_a_value_without_a_writer_is_found() -> None:
    assert "nobody wrote" in anomalies([CREATE, UPDATE, DELETE], LOG)[0]


def test_an_update_of_an_unread_revision_is_found() -> None:
    log = log_of([(5, "a", "1"), (6, "a", "x"), (7, "a", "2")])
    calls = [CREATE, Call(Kind.PATCH, "a", 1, 2, Outcome.DONE, "x", 0, 6), replace(UPDATE, revision=7)]
    assert "not allowed" in anomalies(calls, log)[0]


def test_a_create_of_what_was_there_is_found() -> None:
    log = [*LOG[:1], Event(6, "a", "2", 5)]
    assert "not allowed" in anomalies([CREATE, replace(CREATE, value="2", revision=6, end=9)], log)[0]


def test_revisions_against_the_order_of_time_are_found() -> None:
    calls = [replace(CREATE, begin=4, end=5), replace(OTHER, begin=0, end=1)]
    log = log_of([(5, "a", "1"), (8, "b", "3")])
    assert "no time" in anomalies(calls, log)[0]


def test_a_revision_that_is_not_the_writes_own_is_found() -> None:
    assert "written as" in anomalies([replace(CREATE, revision=6), UPDATE, DELETE, OTHER], LOG)[0]
