"""Format decoded JSON like Go."""

from typing import Any

import pytest

from sampan.patch import go_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": {"y": 1}, "a": "x"}, "map[a:x b:map[y:1]]", id="sorted keys"),
        pytest.param([1, "two", [True]], "[1 two [true]]", id="lists"),
        pytest.param({"a": None, "b": False}, "map[a:<nil> b:false]", id="null and false"),
        pytest.param({}, "map[]", id="empty"),
        pytest.param(1.5, "1.5", id="float"),
    ],
)
def test_values_look_as_go_prints_them(value: Any, text: str) -> None:
    assert go_text.plain(value) == text
