"""Changes of rules by other programs are recognized by the numbers of rulesets."""

import struct

import pytest

from sampan.component_base.nftables.foreign_changes import ForeignChanges

_TABLE_MESSAGE, _GENERATION_MESSAGE = 10 << 8, 10 << 8 | 15


def transaction(generation: int, table: str) -> bytes:
    """Return the kernel's messages about a change of a table."""
    name = table.encode() + b"\0"
    return _message(_TABLE_MESSAGE, name) + _message(_GENERATION_MESSAGE, struct.pack(">I", generation))


def _message(kind: int, value: bytes) -> bytes:
    attribute = struct.pack("=HH", len(value) + 4, 1) + value + b"\0" * (-len(value) % 4)
    body = b"\0" * 4 + attribute
    return struct.pack("=IHHII", len(body) + 16, kind, 0, 0, 0) + body


@pytest.mark.parametrize("late", [False, True], ids=["reported before", "reported after"])
@pytest.mark.parametrize(
    ("wrote", "events", "foreign"),
    [
        (range(5, 6), [(5, "mine")], False),
        (range(5, 6), [(5, "mine"), (6, "mine")], True),
        (range(5, 7), [(5, "other"), (6, "mine")], False),
        (range(5, 7), [(5, "mine"), (6, "other")], False),
        (range(5, 7), [(5, "mine"), (6, "mine")], True),
        (range(0), [(5, "mine")], True),
        (range(0), [(5, "other")], False),
    ],
    ids=["own", "foreign after", "beside before", "beside after", "foreign at once", "unknown", "only beside"],
)
def test_a_change_is_foreign_unless_an_own_transaction_explains_it(
    wrote: range, events: list[tuple[int, str]], foreign: bool, late: bool
) -> None:
    changes = ForeignChanges("mine", lambda: None)
    if late:
        changes.wrote(wrote)
    for event in events:
        changes.take(transaction(*event))
    if not late:
        changes.wrote(wrote)
    assert changes.any() == foreign


def test_dropped_events_count_as_foreign_unless_the_own_table_is_the_newest() -> None:
    changes = ForeignChanges("mine", lambda: None)
    changes.wrote(range(7, 8), whole=True)
    changes.take(None)
    assert not changes.any(7)
    changes.take(None)
    assert changes.any(8)
