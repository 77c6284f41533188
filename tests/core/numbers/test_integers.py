"""Parse 64-bit integers like Go, in linear time."""

import pytest

from sampan.core.numbers.int_or_string import scaled_value
from sampan.core.numbers.integers import INT64_MAX, INT64_MIN, integer_or, parse_integer


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("-1", -1), ("+7", 7), (str(INT64_MAX), INT64_MAX), (str(INT64_MIN), INT64_MIN), ("0" * 9000 + "5", 5)],
)
def test_integer_of_64_bits_is_parsed(text: str, number: int) -> None:
    assert parse_integer(text) == number


@pytest.mark.parametrize("text", ["", "+", "-", " 1", "1_0", "٣", "²", "0x1", "1.0", "--1"], ids=ascii)
def test_other_syntax_is_rejected_with_the_message_of_go(text: str) -> None:
    with pytest.raises(ValueError, match=r'^strconv\.ParseInt: parsing ".*": invalid syntax$'):
        parse_integer(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 1_000_000])
def test_an_integer_of_more_than_64_bits_is_out_of_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"value out of range$"):
        parse_integer(text)


def test_an_unsigned_integer_has_no_sign() -> None:
    with pytest.raises(ValueError, match=r'^strconv\.ParseUint: parsing "-1": invalid syntax$'):
        parse_integer("-1", function="ParseUint", low=0)


def test_text_that_is_not_an_integer_gives_the_default() -> None:
    assert (integer_or("9" * 5000, 3), integer_or("4", 3), integer_or("4", 3, high=2)) == (3, 4, 3)


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [(None, 10, 0, 0), (3, 10, 3, 3), ("25%", 10, 3, 2), ("0%", 10, 0, 0), ("50%", 7, 4, 3), ("100%", 7, 7, 7)],
)
def test_percentage_of_a_total_is_rounded(value: int | str | None, total: int, up: int, down: int) -> None:
    assert scaled_value(value, total, round_up=True) == up
    assert scaled_value(value, total, round_up=False) == down


@pytest.mark.parametrize("value", ["5", "x%", "%", "9" * 5000 + "%"], ids=["plain", "word", "empty", "long"])
def test_text_that_is_not_a_percentage_is_rejected(value: str) -> None:
    with pytest.raises(ValueError, match=r"^invalid value for IntOrString: "):
        scaled_value(value, 10, round_up=True)
