"""Texts of Go in error messages."""

from typing import Any

import pytest

from sampan.patch.go_text import MAP, unmarshal_text
from tests.style.test_style import SOURCES, name_of

PLACES = {
    "src/sampan/patch/errors.py",
    "src/sampan/patch/go_text.py",
    "src/sampan/schema/decode.py",
    "src/sampan/server/verbs/delete_parameters.py",
    "src/sampan/wire/continue_token.py",
}
"""Modules with another form of the text: fields of Go structs, and numbers with their value."""


@pytest.mark.parametrize(
    ("value", "kind"),
    [([], "array"), ("a", "string"), (True, "bool"), (1, "number"), (1.5, "number"), (None, "null")],
    ids=["array", "string", "bool", "integer", "float", "null"],
)
def test_an_error_of_the_decoder_names_the_kind_of_the_value(value: Any, kind: str) -> None:
    assert unmarshal_text(value, MAP) == (
        f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    )


def test_errors_of_gos_decoder_are_made_in_one_module() -> None:
    assert {name_of(path) for path in SOURCES if "cannot unmarshal" in path.read_text()} <= PLACES
