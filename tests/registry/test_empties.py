"""What a client wrote as empty is shown as it was written. So does kube-apiserver 1.36.3."""

from typing import Any

import pytest

from sampan.core.field import FieldError, Path, invalid
from sampan.registry.empties import filled, with_empties


@pytest.mark.parametrize(
    ("value", "written", "expected"),
    [
        pytest.param(None, [], [], id="a list"),
        pytest.param(None, {}, {}, id="a map"),
        pytest.param(None, ["a"], None, id="not one that is full"),
        pytest.param({"a": 1}, {"a": 1, "b": [], "c": "x", "d": None}, {"a": 1, "b": []}, id="beside others"),
        pytest.param({}, {"resources": {"limits": {}}}, {"resources": {"limits": {}}}, id="below another"),
        pytest.param([{"a": 1}], [{"a": 1, "b": {}}], [{"a": 1, "b": {}}], id="in a list"),
        pytest.param([1], [1, 2], [1], id="a list of another length stays"),
    ],
)
def test_empty_values_come_back(value: Any, written: Any, expected: Any) -> None:
    assert filled(value, written) == expected


def _only(fault: FieldError, obj: Any) -> Any:
    (found,) = with_empties([fault], lambda: obj)
    return found.bad_value


def test_the_value_of_a_fault_is_found_by_its_path() -> None:
    obj = {"spec": {"rules": [{"a": 1}, {"hosts[0]": [], "paths": []}]}}
    assert _only(invalid(Path("spec", "rules").index(1).child("paths"), None, "no"), obj) == []
    assert _only(invalid(Path("spec", "rules").index(2).child("paths"), None, "no"), obj) is None
    assert _only(invalid(Path("spec", "rules").child("paths"), None, "no"), obj) is None


def test_what_is_no_list_and_no_map_stays() -> None:
    fault = invalid(Path("spec", "name"), "", "no")
    assert list(with_empties([fault], lambda: {"spec": {"name": []}})) == [fault]


def test_an_object_that_nobody_wrote_fills_nothing() -> None:
    fault = invalid(Path("spec"), None, "no")
    assert list(with_empties([fault], None)) == [fault]
