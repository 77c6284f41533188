"""Comparison of JSON values, and the numbers of Go, against a model and against Go's own results."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sampan.core.json.values import contains, same, same_by_number, whole_number, with_whole_numbers
from tests.properties import examples

SCALARS = st.sampled_from((None, True, False, 0, 1, -1, 2, 0.0, 1.0, -1.0, 2.5, 2**63, 2**70, "", "a", "1", "\ud800"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def text_of(value: Any) -> str:
    """Return a text that shows the types: the model of JSON equality."""
    return json.dumps(value, sort_keys=True)


@st.composite
def almost_equal(draw: st.DrawFn) -> tuple[Any, Any]:
    """Return two values of which one may have other types: true for 1, 1.0 for 1, another order of keys."""
    value = draw(VALUES)
    return value, _varied(value, draw)


def _varied(value: Any, draw: st.DrawFn) -> Any:
    if isinstance(value, dict):
        return {key: _varied(value[key], draw) for key in draw(st.permutations(sorted(value)))}
    if isinstance(value, list):
        return [_varied(item, draw) for item in value]
    if not isinstance(value, bool | int | float) or abs(value) > 9:
        return value
    return draw(
        st.sampled_from([other for other in (True, False, 0, 1, -1, 2, 0.0, 1.0, 2.5) if other == value] or [value])
    )


@given(almost_equal() | st.tuples(VALUES, VALUES))
@settings(max_examples=examples(300))
@example(({"a": True}, {"a": 1}))
@example(([1], [1.0]))
@example(({"a": 2**70, "b": True}, {"b": 1, "a": 2**70}))
def test_values_are_the_same_if_their_texts_are(pair: tuple[Any, Any]) -> None:
    left, right = pair
    assert same(left, right) == (text_of(left) == text_of(right))
    assert contains([None, right], left) == (left is None or same(left, right))


def _by_number(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_number(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_by_number(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 9 else value


@given(almost_equal() | st.tuples(VALUES, VALUES))
@settings(max_examples=examples(300))
def test_values_are_the_same_by_number_if_their_texts_are_with_all_numbers_as_floats(pair: tuple[Any, Any]) -> None:
    left, right = pair
    assert same_by_number(left, right) == (text_of(_by_number(left)) == text_of(_by_number(right)))


def test_a_deep_value_is_compared() -> None:
    left: Any = True
    right: Any = 1
    for _ in range(250):
        left, right = {"a": left}, {"a": right}
    assert not same(left, right)
    assert same(left, json.loads(json.dumps(left)))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2.0", "2"),
        ("1e6", "1000000"),
        ("-0", "0"),
        ("18446744073709551615", "18446744073709552000"),
        ("9223372036854775808", "9223372036854776000"),
        ("9223372036854775806", "9223372036854775806"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1e20", "100000000000000000000"),
        ("123456789.5", "123456789.5"),
        ("1.5e3", "1500"),
        ("1e-400", "0"),
        ("4611686018427388928.0", "4611686018427389000"),
        ("true", "true"),
    ],
)
def test_a_number_is_written_as_in_go(text: str, written: str) -> None:
    # Results of sigs.k8s.io/json and encoding/json.
    found = whole_number(json.loads(text))
    assert same(found, whole_number(json.loads(written)))


@pytest.mark.parametrize("number", [1e21, -1e21, 1e19, float(2**63), 0.5, 2**80, 2**63, -(2**63) - 1])
def test_other_floats_stay_floats(number: float) -> None:
    assert same(whole_number(number), float(number))


@given(VALUES)
@settings(max_examples=examples(100))
def test_whole_numbers_are_found_at_any_depth(value: Any) -> None:
    copied = json.loads(json.dumps(value))
    found = with_whole_numbers({"a": [copied]})

    def numbers(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: numbers(item) for key, item in node.items()}
        return [numbers(item) for item in node] if isinstance(node, list) else whole_number(node)

    assert same(found, {"a": [numbers(json.loads(json.dumps(value)))]})
