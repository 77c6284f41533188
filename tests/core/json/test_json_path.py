"""JSONPath as in Kubernetes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.json.path import JsonPath

OBJECT: dict[str, Any] = {
    "spec": {"a": 1, "list": [1, 2, 3], "map": {"a.b": 5, "x/y": 6}, "none": None, "empty": []},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "n": 3, "ok": True},
            {"type": "Scheduled", "status": "False", "n": 5, "note": "(x)"},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.a", [1]),
        ("$.spec.a", [1]),
        (".spec['a']", [1]),
        (".spec.map['a\\.b']", [5]),
        (".spec.map.a\\.b", [5]),
        (".spec.map['x/y']", [6]),
        (".spec.none", [None]),
        (".spec.none.x", []),
        (".spec.missing.x", []),
        (".spec.a.b", []),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [3]),
        (".spec.list[1:]", [2, 3]),
        (".spec.list[:2]", [1, 2]),
        (".spec.list[0:3:2]", [1, 3]),
        (".spec.list[*]", [1, 2, 3]),
        (".spec.list[0,2]", [1, 3]),
        (".spec.list[3]", []),
        (".spec.list[2:1]", []),
        (".spec.empty[*]", []),
        (".spec.a[0]", []),
        (".spec.map.*", [5, 6]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Ready')].status", ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        ('.status.conditions[?(@.note=="(x)")].type', ["Scheduled"]),
        (".status.conditions[?(@.n>4)].type", ["Scheduled"]),
        (".status.conditions[?(@.n>=3)].n", [3, 5]),
        (".status.conditions[?(@.ok==true)].type", ["Ready"]),
        (".status.conditions[?(@.note)].type", ["Scheduled"]),
        (".status.conditions[?(@.type==1)].type", []),
        (".status.conditions[*].type", ["Ready", "Scheduled"]),
        ("..type", ["Ready", "Scheduled"]),
        (".spec..x", []),
        ("spec.a", []),
        (".", []),
    ],
)
def test_paths_find_values(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(OBJECT) == found


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (".a[", "unterminated array"),
        (".a[x]", "invalid array index x"),
        ('.a["b"]', 'invalid array index "b"'),
        (".a[?(@.b)", "unclosed array expect ]"),
        (".a[?(@.b", "unterminated filter"),
        ('"b', "unterminated quoted string"),
        ("....", "invalid multiple recursive descent"),
        (".a ^", "unrecognized character in action: U+005E '^'"),
        ("1.2.3", "cannot parse number 1.2.3"),
    ],
)
def test_invalid_paths_are_rejected(path: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        JsonPath(path)
    assert str(caught.value) == error


def test_first_returns_the_first_value_or_a_default() -> None:
    assert JsonPath(".spec.list[*]").first(OBJECT) == 1
    assert JsonPath(".spec.missing").first(OBJECT, "none") == "none"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(st.text(alphabet=".abc[]*:?(@)='\"0123,\\ -<$}", max_size=25), json_values)
def test_any_text_parses_or_raises_value_error(text: str, value: Any) -> None:
    try:
        path = JsonPath(text)
    except ValueError:
        return
    assert isinstance(path.find(value), list)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), json_values)
def test_plain_paths_walk_maps(names: list[str], value: Any) -> None:
    found: list[Any] = [value]
    for name in names:
        found = [item[name] for item in found if isinstance(item, dict) and name in item]
    assert JsonPath("".join(f".{name}" for name in names)).find(value) == found


def test_number_of_results_is_limited() -> None:
    value: Any = 1
    for _ in range(6):
        value = {str(index): value for index in range(12)}
    assert JsonPath(".*" * 6).find(value) == []


def test_nesting_of_filters_is_limited() -> None:
    with pytest.raises(ValueError, match=r"too deeply nested|expect|unterminated"):
        JsonPath(".a" + "[?(@.b" * 200 + ")]" * 200)
