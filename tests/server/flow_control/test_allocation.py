"""Allocation of seats."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sampan.server.flow_control.allocation import AllocationItem, allocate


@st.composite
def wishes(draw: st.DrawFn) -> list[AllocationItem]:
    found = []
    for _ in range(draw(st.integers(1, 8))):
        lower = draw(st.integers(0, 50))
        target = lower + draw(st.integers(0, 100))
        found.append(AllocationItem(float(target), float(lower), float(lower + draw(st.integers(0, 600)))))
    return found


@given(found=wishes(), data=st.data())
def test_the_sum_is_exact_and_all_have_the_same_proportion(found: list[AllocationItem], data: st.DataObject) -> None:
    low, high = sum(wish.lower for wish in found), sum(wish.upper for wish in found)
    total = data.draw(st.integers(int(low), int(high)))
    assume(total)
    shares, proportion = allocate(total, found)
    assert sum(shares) == pytest.approx(total, abs=1e-6)
    for share, wish in zip(shares, found, strict=True):
        assert wish.lower <= share <= wish.upper
        desired = proportion * max(wish.target, 0.001)
        assert share == pytest.approx(min(max(desired, wish.lower), wish.upper), abs=1e-6)


def test_without_bounds_shares_are_proportional_to_targets() -> None:
    shares, proportion = allocate(60, [AllocationItem(10, 0, 100), AllocationItem(20, 0, 100)])
    assert shares == [20, 40]
    assert proportion == 2


@pytest.mark.parametrize(
    ("total", "found"),
    [(5, [AllocationItem(10, 6, 20)]), (50, [AllocationItem(10, 6, 20)]), (10, [AllocationItem(1, 6, 20)])],
    ids=["too little", "too much", "target below its bound"],
)
def test_bounds_without_a_solution_are_an_error(total: int, found: list[AllocationItem]) -> None:
    with pytest.raises(ValueError):
        allocate(total, found)
