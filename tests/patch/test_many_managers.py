"""Folding the entries of very many managers is no more than the union of their fields."""

from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sampan.patch.field_sets.fieldset import LEAF, parse, union, union_of
from sampan.patch.managed_fields.entries import UPDATE_ENTRIES_MAX, cap, make_entry

KEYS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}'])
RAW: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.just({}), lambda below: st.dictionaries(KEYS, below, max_size=3), max_leaves=8
)


@given(st.lists(RAW, max_size=9))
def test_the_union_of_many_sets_is_that_of_one_after_the_other(raw: list[dict[str, Any]]) -> None:
    sets = [parse(each) for each in raw]
    assert union_of(sets) == reduce(union, sets, LEAF)


def test_the_entries_of_many_managers_become_one_with_all_their_fields() -> None:
    entries = [
        make_entry(
            (f"m{index:05}", "Update", "v1", ""), "v1", "2026-01-01T00:00:00Z", {"f:data": {f"f:k{index}": LEAF}}
        )
        for index in range(5000)
    ]
    capped = cap(entries)
    ancient = next(entry for entry in capped if entry["manager"] == "ancient-changes")
    assert len(capped) == UPDATE_ENTRIES_MAX
    assert len(ancient["fieldsV1"]["f:data"]) == 5000 - UPDATE_ENTRIES_MAX + 1
