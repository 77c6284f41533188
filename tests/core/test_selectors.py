"""Selectors: parsed, formatted, matched, and rejected with Kubernetes' messages."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.field import Path
from sampan.core.selectors import (
    EVERYTHING,
    NOTHING,
    FieldRequirement,
    FieldSelector,
    Operator,
    Requirement,
    Selector,
    escape_field_value,
    parse_fields,
    parse_labels,
    selector_from_label_selector,
    selector_from_labels,
    selector_text,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        (" ", ""),
        ("a=b", "a=b"),
        ("a == b", "a==b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("b,a", "a,b"),
        ("!a", "!a"),
        ("a in (c, b)", "a in (b,c)"),
        ("a notin ()", "a notin ()"),
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
        ("x in (,)", "x in ()"),
        ("a>5,b<6", "a>5,b<6"),
        ("in in (in),notin=notin", "in in (in),notin=notin"),
        ("app.kubernetes.io/name=x", "app.kubernetes.io/name=x"),
    ],
)
def test_label_selectors_are_formatted_as_in_kubernetes(text: str, shown: str) -> None:
    assert parse_labels(text).text == shown


KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a=)", "unable to parse requirement: found ')', expected: identifier"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("x in", "unable to parse requirement: found '' expected: '('"),
        ("x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("x in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("x in (a,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("-a", f'unable to parse requirement: <nil>: Invalid value: "-a": {KEY}'),
        (
            "a>b",
            'unable to parse requirement: values[0]: Invalid value: "b": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_invalid_label_selectors_are_rejected(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_labels(text)
    assert str(caught.value) == error


def test_errors_contain_the_given_path() -> None:
    with pytest.raises(ValueError, match=r"unable to parse requirement: spec\.selector: Invalid value"):
        parse_labels("-a", Path("spec", "selector"))


@pytest.mark.parametrize(
    ("text", "labels", "selected"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a=", {"a": ""}, True),
        ("a=", {}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a in (b,c)", {"a": "c"}, True),
        ("a in (b,c)", {}, False),
        ("a notin (b,c)", {}, True),
        ("a notin (b,c)", {"a": "d"}, True),
        ("a notin (b,c)", {"a": "b"}, False),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("!a", {"a": "1"}, False),
        ("a>5", {"a": "6"}, True),
        ("a>5", {"a": "5"}, False),
        ("a>5", {"a": "x"}, False),
        ("a>5", {}, False),
        ("a<5", {"a": "-1"}, True),
        ("a<5", {"a": "99999999999999999999"}, False),
        ("a=1,b=2,c=3", {"a": "1", "b": "2", "c": "3"}, True),
        ("a=1,b=2,c=3", {"a": "1", "b": "2"}, False),
    ],
)
def test_labels_are_matched(text: str, labels: dict[str, str], selected: bool) -> None:
    assert parse_labels(text).matches(labels) is selected


keys = st.from_regex(r"[a-z]([a-z0-9.-]{0,5}[a-z0-9])?", fullmatch=True)
values = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,5}[A-Za-z0-9])?)?", fullmatch=True)
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        st.tuples(values),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.sets(values, min_size=1, max_size=4).map(lambda found: tuple(sorted(found))),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.integers(0, 99).map(lambda number: (str(number),)),
    ),
)


@given(st.lists(requirements, max_size=5).map(Selector))
def test_label_selectors_round_trip(selector: Selector) -> None:
    assert parse_labels(selector.text) == selector


def expected(requirement: Requirement, labels: dict[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return value not in requirement.values
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            if value is None or not value.isdecimal():
                return False
            bound = int(requirement.values[0])
            return int(value) > bound if requirement.operator is Operator.GREATER_THAN else int(value) < bound
        case _:
            return value in requirement.values


@given(st.lists(requirements, max_size=4), st.dictionaries(keys, values, max_size=4))
def test_selector_matches_if_all_its_requirements_match(found: list[Requirement], labels: dict[str, str]) -> None:
    assert Selector(found).matches(labels) is all(expected(requirement, labels) for requirement in found)


@given(st.text(alphabet="ab=!,()<> in notin\0\t-/é", max_size=40))
def test_parsing_label_selectors_raises_only_value_error(text: str) -> None:
    try:
        assert isinstance(parse_labels(text), Selector)
    except ValueError:
        return


@pytest.mark.parametrize(
    ("label_selector", "shown"),
    [
        ({}, ""),
        ({"matchLabels": {"b": "1", "a": "2"}}, "a=2,b=1"),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["y", "x"]},
                    {"key": "b", "operator": "Exists"},
                ]
            },
            "a in (x,y),b",
        ),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, "!a"),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]}, "a notin (x)"),
    ],
)
def test_label_selector_objects(label_selector: dict[str, Any], shown: str) -> None:
    assert selector_from_label_selector(label_selector).text == shown
    assert selector_text(label_selector) == shown


def test_null_label_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert selector_from_label_selector(None) == NOTHING
    assert selector_from_label_selector({}) == EVERYTHING
    assert not NOTHING.matches({"a": "b"})
    assert not NOTHING.empty
    assert EVERYTHING.empty


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ({"key": "a", "operator": "Foo"}, '"Foo" is not a valid label selector operator'),
        (
            {"key": "a", "operator": "In"},
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"key": "a", "operator": "Exists", "values": ["x"]},
            'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_invalid_label_selector_objects_are_rejected(expression: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        selector_from_label_selector({"matchExpressions": [expression]})
    assert str(caught.value) == error


def test_selector_is_made_from_labels() -> None:
    assert selector_from_labels({"a": "b"}).text == "a=b"
    assert selector_text({"app": "x"}) == "app=x"
    assert selector_text(None) == ""


@pytest.mark.parametrize(
    ("text", "value"), [("a=b", "b"), ("a in (b)", "b"), ("a in (b,c)", None), ("a!=b", None), ("c=d", None)]
)
def test_exact_label_values(text: str, value: str | None) -> None:
    assert parse_labels(text).requires_exact("a") == value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("metadata.name=x", "metadata.name=x"),
        ("b!=2,a==1", "a=1,b!=2"),
        (",,a=b,", "a=b"),
        ("a=b\\,c", "a=b\\,c"),
        ("a=b\\=c", "a=b\\=c"),
        ("a=\\\\", "a=\\\\"),
        ("a=", "a="),
    ],
)
def test_field_selectors_are_formatted_as_in_kubernetes(text: str, shown: str) -> None:
    assert parse_fields(text).text == shown


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=b\\x", "invalid field selector: invalid escape sequence: \\x"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_invalid_field_selectors_are_rejected(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_fields(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("text", "fields", "selected"),
    [
        ("a=b", {"a": "b"}, True),
        ("a=b", {}, False),
        ("a=", {}, True),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a=b,c!=d", {"a": "b", "c": "d"}, False),
    ],
)
def test_fields_are_matched(text: str, fields: dict[str, str], selected: bool) -> None:
    assert parse_fields(text).matches(fields) is selected


def test_exact_field_values() -> None:
    selector = parse_fields("metadata.name=x,spec.nodeName!=y")
    assert selector.requires_exact("metadata.name") == "x"
    assert selector.requires_exact("spec.nodeName") is None


def test_transform_drops_requirements_that_become_empty() -> None:
    selector = parse_fields("a=1,b=2").transform(lambda name, value: ("", "") if name == "a" else (name.upper(), value))
    assert selector.text == "B=2"


field_values = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
field_requirements = st.builds(
    FieldRequirement, keys, st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]), field_values
)


@given(st.lists(field_requirements, max_size=4))
def test_field_selectors_round_trip(found: list[FieldRequirement]) -> None:
    assert set(parse_fields(FieldSelector(found).text).requirements) == set(found)


@given(field_values)
def test_escaped_values_round_trip(value: str) -> None:
    assert parse_fields(f"a={escape_field_value(value)}").requires_exact("a") == value


@given(st.text(alphabet="ab=!,\\ .", max_size=40))
def test_parsing_field_selectors_raises_only_value_error(text: str) -> None:
    try:
        assert isinstance(parse_fields(text), FieldSelector)
    except ValueError:
        return


TOO_MUCH = {
    "requirements": ",".join(f"a{index}=b" for index in range(257)),
    "characters": "a=" + "b" * 65_536,
}


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
@pytest.mark.parametrize("parse", [parse_labels, parse_fields])
def test_selectors_that_are_too_long_are_rejected(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"^the selector has .* at most [0-9]+ are allowed$"):
        parse(text)


@pytest.mark.parametrize("parse", [parse_labels, parse_fields])
def test_selectors_may_have_256_requirements(parse: Callable[[str], Selector | FieldSelector]) -> None:
    assert len(parse(",".join(f"a{index}=b" for index in range(256))).requirements) == 256


def test_a_set_of_values_may_be_long() -> None:
    assert parse_labels(f"a in ({','.join(map(str, range(10_000)))})").matches({"a": "9999"})
