"""Comparison of quantities, as in Kubernetes."""

import pytest

from sampan.registry.rules.quantities import ZERO, amount, is_whole, round_up_to_milli


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
        ("1.0005", "1001m"),
        ("5.0000", "5"),
        ("1e999999999", "1e999999999"),
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
        ("-1u", False),
        ("1e999999999", True),
        ("-1e2147483647", True),
    ],
)
def test_whole_amounts(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


def test_a_text_that_is_not_a_quantity_counts_as_zero() -> None:
    assert amount("large") == ZERO
