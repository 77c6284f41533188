"""Expand `$(NAME)` in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.pods.expansion import expand, from_mappings

VALUES = {"A": "1", "EMPTY": "", "REF": "$(A)"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("x$(A)y", "x1y"),
        ("$(EMPTY)", ""),
        ("$(MISSING)", "$(MISSING)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(REF)", "$(A)"),
        ("$(A", "$(A"),
        ("$A $", "$A $"),
        ("$()", "$()"),
        ("$((A))", "$((A))"),
        ("a\n$(A)\n", "a\n1\n"),
    ],
)
def test_references_are_expanded(text: str, expanded: str) -> None:
    assert expand(text, from_mappings(VALUES)) == expanded


def test_first_mapping_with_the_name_wins() -> None:
    assert expand("$(A)$(B)", from_mappings(VALUES, {"A": "2", "B": "3"})) == "13"


@given(st.text(alphabet="$()aA{\n", max_size=30))
def test_escaped_dollars_round_trip(text: str) -> None:
    assert expand(text.replace("$", "$$"), from_mappings(VALUES)) == text
