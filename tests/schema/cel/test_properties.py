"""The evaluator agrees with Python's arithmetic and logic, and raises only declared errors for any input."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.schema.cel import Budget, CelCompileError, CelError, CelRuntimeError, Environment
from sampan.schema.cel.syntax.parser import parse
from sampan.schema.cel.types import BOOL, DOUBLE, DYN, INT, STRING, list_of, map_of
from sampan.schema.cel.values import compare, equal
from tests.properties import examples

_MIN, _MAX = -(2**63), 2**63 - 1
ENVIRONMENT = Environment(
    {"x": INT, "y": INT, "s": STRING, "f": DOUBLE, "d": DYN, "l": list_of(INT), "m": map_of(STRING, INT), "b": BOOL}
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(_MIN, _MAX) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


class Overflow(Exception):
    """The model's only error."""


def checked(number: int) -> int:
    if not _MIN <= number <= _MAX:
        raise Overflow
    return number


numbers = st.integers(_MIN, _MAX) | st.integers(-5, 5)
arithmetic = st.recursive(
    numbers.map(lambda number: (f"({number})", number)),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda parts: joined(*parts)),
    max_leaves=8,
)


def joined(left: tuple[str, Any], operator: str, right: tuple[str, Any]) -> tuple[str, Any]:
    """Return the text of an operation, and its value or None if it has none."""
    return f"({left[0]} {operator} {right[0]})", applied(left[1], operator, right[1])


def applied(left: int | None, operator: str, right: int | None) -> int | None:
    if left is None or right is None or (operator in "/%" and right == 0):
        return None
    results = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: truncated(left, right),
        "%": lambda: left - right * truncated(left, right) if (left, right) != (_MIN, -1) else _MAX + 1,
    }
    try:
        return checked(results[operator]())
    except Overflow:
        return None


@given(arithmetic)
@settings(max_examples=examples(200))
def test_arithmetic_is_64_bit(case: tuple[str, int | None]) -> None:
    expression, expected = case
    program = ENVIRONMENT.compile(expression)
    if expected is not None:
        assert program.evaluate({}, Budget()) == expected
        return
    with pytest.raises(CelRuntimeError):
        program.evaluate({}, Budget())


logic = st.recursive(
    st.sampled_from([("true", True), ("false", False), ("1 / 0 == 1", None)]),
    lambda inner: st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda parts: connected(*parts)),
    max_leaves=10,
)


def connected(left: tuple[str, Any], operator: str, right: tuple[str, Any]) -> tuple[str, Any]:
    decides = operator == "||"
    values = left[1], right[1]
    value = decides if decides in values else None if None in values else not decides
    return f"({left[0]} {operator} {right[0]})", value


@given(logic)
@settings(max_examples=examples(200))
def test_logic_absorbs_errors_on_either_side(case: tuple[str, bool | None]) -> None:
    expression, expected = case
    program = ENVIRONMENT.compile(expression)
    if expected is not None:
        assert program.evaluate({}, Budget()) is expected
        return
    with pytest.raises(CelRuntimeError):
        program.evaluate({}, Budget())


@given(st.lists(st.integers(-9, 9)))
def test_macros_agree_with_python_comprehensions(items: list[int]) -> None:
    assert run("l.all(i, i > 0)", items) == all(i > 0 for i in items)
    assert run("l.exists(i, i > 0)", items) == any(i > 0 for i in items)
    assert run("l.exists_one(i, i > 0)", items) == (sum(i > 0 for i in items) == 1)
    assert run("l.filter(i, i > 0).map(i, i * 2)", items) == [i * 2 for i in items if i > 0]
    assert run("l.sort()", items) == sorted(items)


def run(expression: str, items: list[int]) -> Any:
    return ENVIRONMENT.compile(expression).evaluate({"l": items}, Budget())


@given(json_values, json_values)
def test_equality_is_symmetric_and_agrees_with_order(left: Any, right: Any) -> None:
    assert equal(left, left)
    assert equal(left, right) == equal(right, left)
    try:
        order = compare(left, right)
    except CelRuntimeError:
        return
    assert (order == 0) == equal(left, right)


TOKENS = st.sampled_from(
    [
        "x", "y", "s", "f", "d", "l", "m", "b", ".", "(", ")", "[", "]", "{", "}", ",", "?", ":", "+", "-", "*", "/",
        "%", "!", "&&", "||", "==", "!=", "<", "in", "1", "2u", "1.5", "'a'", "b'a'", "null", "true", ".all(i,", "i",
        ".map(i,", ".size()", "has(", "d.a", "optional.of(", ".?a", "[?", "duration('1s')", "timestamp(0)", "type(",
        "dyn(", "'%s'.format([", "quantity('1')", ".exists(k, v,", ".orValue(", "string(", "int(",
    ]
)  # fmt: skip


@given(st.lists(TOKENS, max_size=12).map(" ".join) | st.text(max_size=20), json_values)
@settings(max_examples=examples(400))
def test_any_expression_raises_only_declared_errors(expression: str, value: Any) -> None:
    try:
        program = ENVIRONMENT.compile(expression)
    except CelCompileError:
        return
    bindings = {"x": 1, "y": -1, "s": "a", "f": 0.5, "d": value, "l": [1, 2], "m": {"a": 1}, "b": True}
    try:
        program.evaluate(bindings, Budget())
    except CelError:
        return


EXPRESSIONS = [
    "d + d == d", "d < d", "d.a == d['a']", "d.all(i, i)", "d.map(i, i + 1)", "size(d) == 1", "d[0] == 1", "-d == d",
    "'%s %d %f %x %e'.format([d, d, d, d, d]) == ''", "string(d) == ''", "int(d) == 1", "double(d) == 1.0",
    "timestamp(d) == timestamp(0)", "duration(d) == duration('1s')", "quantity(d) == quantity('1')",
    "d.matches(d)", "d.find(d) == ''", "d.split(d) == []", "ip(d).family() == 4", "cidr(d).prefixLength() == 1",
    "url(d).getHost() == ''", "semver(d).major() == 1", "format.dns1123Label().validate(d).hasValue()",
    "d.sort() == d", "d.sum() == 1", "d.flatten() == d", "d.transformMap(k, v, v) == d", "d.?a.orValue(1) == 1",
    "d[?0].hasValue()", "d in d", "{d: d} == {d: d}", "[?d] == []", "uint(d) == 1u", "d ? d : d", "d && d", "!d",
    "d.substring(d) == d", "timestamp(0).getHours(d) == 1", "d.join(d) == d", "optional.ofNonZeroValue(d).hasValue()",
]  # fmt: skip
PROGRAMS = [ENVIRONMENT.compile(expression) for expression in EXPRESSIONS]


@given(json_values)
@settings(max_examples=examples(200))
def test_any_data_raises_only_declared_errors(value: Any) -> None:
    for program in PROGRAMS:
        try:
            program.evaluate({"d": value}, Budget())
        except CelError:
            continue


PIECES = st.sampled_from(
    [
        "x", ".", "(", ")", "[", "]", "{", "}", ",", "?", ":", "+", "-", "*", "%", "!", "&&", "||", "==", "<", "in",
        "1", "2u", "1.5", "'a'", "b'a'", r"r'\d'", "null", ".f", "has", "x.all(i,", ".?a", "[?", "0x1F", "'''t'''",
        "//c\n", ".5", "as", "T{a:", "--", r"'\n'", r"'\q'", "1.", " ",
        "\n", "é", "@", "{'a':1}", "[1,]", "[,]", "f()", ".g()",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=7).map("".join) | st.lists(PIECES, max_size=7).map(" ".join))
@settings(max_examples=examples(200))
def test_parser_accepts_the_same_texts_with_the_same_first_message_as_the_reference_parser(expression: str) -> None:
    reference = pytest.importorskip("tests.schema.cel.reference_parser", reason="cel-expr-python has no wheel here")
    try:
        parse(expression)
        messages = ""
    except CelCompileError as error:
        messages = str(error)
    expected = reference.syntax_messages(expression)
    assert (messages == "") == (expected == "")
    if "Syntax error" in first_line(expected):
        assert first_line(messages) == first_line(expected)


def first_line(text: str) -> str:
    return text.split("\n")[0]
