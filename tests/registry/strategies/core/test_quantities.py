"""Amounts are compared as Kubernetes compares quantities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.quantity import Quantity
from sampan.registry.strategies.core.quantities import ceil_units, is_whole, nano, round_up_to_milli

TEXTS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.integers(0, 10**6),
    st.sampled_from(["n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2"]),
)


@given(TEXTS, TEXTS)
def test_amounts_are_ordered_as_quantities_are(one: str, other: str) -> None:
    order = (nano(one) > nano(other)) - (nano(one) < nano(other))
    assert order == Quantity.parse(one).compare(Quantity.parse(other))


@given(TEXTS)
def test_whole_units_are_those_of_the_quantity(text: str) -> None:
    if nano(text) >= 0:
        assert ceil_units(text) == Quantity.parse(text).value()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1u", "1m"),
        ("1500u", "2m"),
        ("1000000u", "1"),
        ("-1u", "-1m"),
        ("7", "7"),
        ("100e-6", "1e-3"),
        ("1e-9", "1e-3"),
    ],
)
def test_amounts_are_rounded_away_from_zero(text: str, expected: str) -> None:
    amounts = {"cpu": text}
    round_up_to_milli(amounts)
    assert amounts == {"cpu": expected}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("1", True),
        ("500m", False),
        ("1000m", True),
        ("1.5Gi", True),
        ("8Pi", True),
        ("12345678901234567890", False),
        ("100e21", True),
        ("9Pi", False),
        ("9223372036854775", True),
        ("9223372036854776", False),
        ("20Ei", True),
        ("20P", True),
    ],
)
def test_whole_amounts(text: str, whole: bool) -> None:
    assert is_whole(text) is whole
