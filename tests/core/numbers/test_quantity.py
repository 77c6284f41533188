"""Quantities: canonical forms, invalid texts, and arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.numbers.quantity import Format, Quantity, canonical, parse

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0", "0"),
        ("0Ki", "0"),
        ("-0", "0"),
        ("1", "1"),
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1536Mi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("1023Ki", "1023Ki"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("12e6", "12e6"),
        ("1E", "1E"),
        ("0.1m", "100u"),
        ("0.0000000001", "1n"),
        ("-1.5", "-1500m"),
        ("9999999999999Ei", "9223372036854775807"),
        ("128974848", "128974848"),
        ("100Gi", "100Gi"),
        (" 5 ", "5"),
    ],
)
def test_texts_become_canonical(text: str, shown: str) -> None:
    assert canonical(text) == shown


@pytest.mark.parametrize("text", ["+1", "01", "1.500", "5."], ids=str)
def test_texts_that_kubernetes_considers_canonical_are_kept(text: str) -> None:
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("number", "shown"), [(5, "5"), (1000, "1k"), (0.5, "500m"), (2.0, "2"), (1e-5, "10u"), (-3, "-3"), (1e30, "1e+30")]
)
def test_json_numbers_are_quantities(number: float, shown: str) -> None:
    assert canonical(number) == shown


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", FORMAT),
        ("abc", FORMAT),
        ("1 Ki", FORMAT),
        ("1..2", FORMAT),
        ("1Xi", FORMAT),
        ("--1", "unable to parse quantity's suffix"),
        ("1KiB", FORMAT),
        ("1e", "unable to parse quantity's suffix"),
        ("1mm", "unable to parse quantity's suffix"),
        ("1Ki5", "unable to parse quantity's suffix"),
        ("1e99999999999999999999", "unable to parse quantity's suffix"),
        ("Pi", "unable to parse numeric part of quantity"),
        ("9" * 5000, "unable to parse numeric part of quantity"),
    ],
)
def test_invalid_texts_are_rejected_with_the_messages_of_kubernetes(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        canonical(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("text", "milli", "whole"),
    [
        ("1", 1000, 1),
        ("1500m", 1500, 2),
        ("1n", 1, 1),
        ("-1500m", -1500, -2),
        ("1Ki", 1024000, 1024),
        ("1e40", 2**63 - 1, 2**63 - 1),
        ("-1e2000000000", -(2**63) + 1, -(2**63) + 1),
        ("0", 0, 0),
    ],
)
def test_values_round_away_from_zero_and_are_capped_at_64_bits(text: str, milli: int, whole: int) -> None:
    assert (parse(text).scaled_value(-3), parse(text).value()) == (milli, whole)


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        ("1", "500m", "1500m"),
        ("1Gi", "512Mi", "1536Mi"),
        ("1Gi", "1", "1073741825"),
        ("0", "1Ki", "1Ki"),
        ("1e3", "1", "1001"),
        ("100m", "-100m", "0"),
    ],
)
def test_sums_keep_the_format_of_the_first(a: str, b: str, total: str) -> None:
    assert str(parse(a) + parse(b)) == total


def test_differences_keep_the_format_of_the_first() -> None:
    assert str(parse("2") - parse("500m")) == "1500m"


def test_equal_amounts_have_equal_hashes() -> None:
    assert parse("1000m") == parse("1") == Quantity(1)
    assert hash(parse("1000m")) == hash(parse("1"))
    assert parse("1") != "1"


def test_amounts_are_ordered() -> None:
    assert sorted(map(parse, ["1Gi", "1", "-1", "1G", "1m"])) == list(map(parse, ["-1", "1m", "1", "1G", "1Gi"]))


def test_zero_is_false() -> None:
    assert not parse("0Mi")
    assert parse("1n")


def test_huge_exponents_compare_at_once() -> None:
    assert parse("1e2000000000") > parse("5") > parse("-1e2000000000")


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        ("1e2000000000", "1", "1e2000000000"),
        ("1", "-1e2000000000", "-1E2000000000"),
        ("1e2000000000", "0", "1e2000000000"),
    ],
)
def test_a_sum_of_amounts_too_far_apart_is_the_larger_one(a: str, b: str, total: str) -> None:
    assert (parse(a) + parse(b)).compare(parse(total)) == 0


def test_number_of_digits_of_sums_is_limited() -> None:
    total = parse("1")
    for exponent in range(500, 50_000, 500):
        total += parse(f"1e{exponent}")
    assert total > parse("1e49500")
    assert len(str(total.unscaled)) <= 1001


def test_an_amount_with_a_huge_exponent_prints_at_once() -> None:
    assert canonical("10e999999999") == "10e999999999"
    assert str(parse("1e1000000000") + parse("1e1000000000")) == "20e999999999"


@given(st.text(alphabet="0123456789.+-eEinumkKMGTPi ", max_size=30))
def test_parsing_raises_only_value_error(text: str) -> None:
    try:
        shown = canonical(text)
    except ValueError:
        return
    assert isinstance(shown, str)


def exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.unscaled) * Fraction(10) ** quantity.scale


@given(st.integers(-(10**12), 10**12), st.integers(-9, 6), st.sampled_from(list(Format)))
def test_formatted_quantities_round_trip(unscaled: int, scale: int, format: Format) -> None:
    quantity = Quantity(unscaled, scale, format)
    assert exact(parse(str(quantity))) == exact(quantity)


amounts = st.builds(Quantity, st.integers(-(10**12), 10**12), st.integers(-9, 9))


@given(amounts, amounts)
def test_arithmetic_is_exact(a: Quantity, b: Quantity) -> None:
    assert exact(a + b) == exact(a) + exact(b)
    assert exact(a - b) == exact(a) - exact(b)
    assert (a < b) == (exact(a) < exact(b))
    assert (a == b) == (exact(a) == exact(b))
