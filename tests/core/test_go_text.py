"""Texts of Go in error messages."""

from typing import Any

import pytest

from sampan.core.go_text import MAP, boxed_syntax, json_number, plain, strings, unmarshal_text


@pytest.mark.parametrize(
    ("value", "kind"),
    [([], "array"), ("a", "string"), (True, "bool"), (1, "number"), (1.5, "number"), (None, "null")],
    ids=["array", "string", "bool", "integer", "float", "null"],
)
def test_an_error_of_the_decoder_names_the_kind_of_the_value(value: Any, kind: str) -> None:
    assert unmarshal_text(value, MAP) == (
        f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (plain({"b": [1.0, None, "x"], "a": True}), "map[a:true b:[1 <nil> x]]"),
        (boxed_syntax({"a": [1]}), 'Value:map[string]interface {}{"a":[]interface {}{1}}}'),
        (strings(["a", "b"]), '[]string{"a", "b"}'),
        (json_number(1.5), "number 1.5"),
        (json_number(True), "bool"),
    ],
    ids=["plain", "boxed", "strings", "number", "bool"],
)
def test_values_are_formatted_as_in_go(text: str, expected: str) -> None:
    assert text.endswith(expected)
