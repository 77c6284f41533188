"""Spec rows E2, C25. Expected texts and codes are those of kube-apiserver 1.36."""

import copy
from typing import Any

import pytest
from hypothesis import given

from sampan.core.errors import StatusError
from sampan.patch import json_patch
from tests.patch.values import json_objects

DOC: dict[str, Any] = {"a": {"b": [1, 2, 3]}, "n": None, "s": "text", "x/y": 1, "m~n": 2}


def run(*operations: Any, doc: Any = None) -> Any:
    return json_patch.apply(DOC if doc is None else doc, list(operations))


def op(kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, **more}


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        pytest.param(op("add", "/a/c", value=1), "a", {"b": [1, 2, 3], "c": 1}, id="add a field"),
        pytest.param(op("add", "/a/b/1", value=9), "a", {"b": [1, 9, 2, 3]}, id="add inserts before an index"),
        pytest.param(op("add", "/a/b/-", value=9), "a", {"b": [1, 2, 3, 9]}, id="add appends"),
        pytest.param(op("add", "/a/b/3", value=9), "a", {"b": [1, 2, 3, 9]}, id="add at the length appends"),
        pytest.param(op("add", "/a/b/-1", value=9), "a", {"b": [1, 2, 3, 9]}, id="add counts from the end"),
        pytest.param(op("remove", "/a/b/0"), "a", {"b": [2, 3]}, id="remove an item"),
        pytest.param(op("remove", "/a/b/-1"), "a", {"b": [1, 2]}, id="remove counts from the end"),
        pytest.param(op("replace", "/a/b", value="x"), "a", {"b": "x"}, id="replace"),
        pytest.param(op("replace", "/a/new", value=1), "a", {"b": [1, 2, 3], "new": 1}, id="replace adds a field"),
        pytest.param(op("replace", "/x~1y", value=5), "x/y", 5, id="escaped slash"),
        pytest.param(op("replace", "/m~0n", value=5), "m~n", 5, id="escaped tilde"),
        pytest.param(op("move", "/t", **{"from": "/a/b"}), "t", [1, 2, 3], id="move"),
        pytest.param(op("copy", "/t", **{"from": "/a"}), "t", {"b": [1, 2, 3]}, id="copy"),
        pytest.param(op("add", "/t"), "t", None, id="add without a value adds null"),
    ],
)
def test_operation_changes_the_document(operation: dict[str, Any], path: str, expected: Any) -> None:
    assert run(operation)[path] == expected


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(op("remove", "/zz"), id="remove of a missing field"),
        pytest.param(op("remove", "/a/b/3"), id="remove beyond the end"),
        pytest.param(op("remove", "/a/b/-4"), id="remove before the start"),
        pytest.param(op("add", "/zz/y", value=1), id="add below a missing field"),
        pytest.param(op("add", "/s/y", value=1), id="add below a scalar"),
        pytest.param(op("add", "/n/y", value=1), id="add below null"),
        pytest.param(op("add", "/a/b/4", value=1), id="add beyond the length"),
        pytest.param(op("add", "/a/b/x", value=1), id="add at no index"),
        pytest.param(op("add", "/a/b/1_0", value=1), id="add at what only Python calls a number"),
        pytest.param(op("add", "", value={}), id="add of the document"),
        pytest.param(op("add", "a", value=1), id="pointer without a slash"),
        pytest.param({"op": "add", "value": 1}, id="no path"),
        pytest.param(op("replace", "/a/b/3", value=1), id="replace beyond the end"),
        pytest.param(op("replace", "", value=1), id="replace of the document by a scalar"),
        pytest.param(op("move", "/t", **{"from": "/zz"}), id="move of a missing field"),
        pytest.param(op("copy", "/zz/t", **{"from": "/a"}), id="copy below a missing field"),
        pytest.param(op("copy", "/t"), id="copy from nowhere"),
        pytest.param(op("test", "/s", value="other"), id="test of another value"),
        pytest.param(op("test", "/a/b/0", value=1.0), id="test of another spelling of a number"),
        pytest.param(op("test", "/a/b/0", value=True), id="test tells true from 1"),
        pytest.param(op("test", "/zz", value=1), id="test of a missing field"),
        pytest.param(op("frob", "/a"), id="unknown operation"),
        pytest.param({"path": "/a"}, id="no operation"),
        pytest.param(None, id="null operation"),
    ],
)
def test_failed_operation_gives_422_without_details(operation: Any) -> None:
    with pytest.raises(StatusError) as caught:
        run(operation)
    status = caught.value.to_status()
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["message"] == "the server rejected our request due to an error in our request"
    assert not status.get("details")


@pytest.mark.parametrize(
    ("path", "value"),
    [("/s", "text"), ("/a", {"b": [1, 2, 3]}), ("/n", None), ("/zz", None), ("/a/b/-1", 3), ("", DOC)],
)
def test_test_passes_when_the_value_is_equal(path: str, value: Any) -> None:
    assert run(op("test", path, value=value)) == DOC


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({}, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (["x"], "error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        (
            [{"op": "add", "path": 1}],
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
        ),
    ],
)
def test_malformed_patch_gives_400(patch: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply(DOC, patch)
    assert (caught.value.code, caught.value.message) == (400, message)


def test_more_than_10000_operations_give_413() -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({}, [op("add", "/a", value=1)] * 10_001)
    assert caught.value.code == 413
    assert caught.value.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


def test_exactly_10000_operations_are_allowed() -> None:
    assert json_patch.apply({}, [op("add", "/a", value=1)] * 10_000) == {"a": 1}


def test_copies_of_more_than_3_mebibytes_in_total_give_422() -> None:
    doc = {"big": "x" * (1024 * 1024)}
    copies = [op("copy", f"/c{index}", **{"from": "/big"}) for index in range(3)]
    assert len(json_patch.apply(doc, copies[:2])) == 3
    with pytest.raises(StatusError) as caught:
        json_patch.apply(doc, copies)
    assert caught.value.code == 422


def test_failing_operation_does_not_change_the_document() -> None:
    before = copy.deepcopy(DOC)
    with pytest.raises(StatusError):
        run(op("add", "/a/b/0", value=0), op("remove", "/zz"))
    assert before == DOC


def test_document_replaced_by_a_list_gives_422_with_a_cause() -> None:
    with pytest.raises(StatusError) as caught:
        run(op("replace", "", value=[1]))
    assert caught.value.code == 422
    assert caught.value.details is not None
    assert caught.value.details["causes"][0]["field"] == "patch"


def test_result_shares_nothing_with_document_or_patch() -> None:
    value = {"deep": [1]}
    doc: dict[str, Any] = {"kept": {"x": 1}}
    result = json_patch.apply(doc, [op("add", "/v", value=value)])
    result["v"]["deep"].append(2)
    result["kept"]["x"] = 2
    assert (value, doc) == ({"deep": [1]}, {"kept": {"x": 1}})


def test_copy_operation_makes_a_deep_copy() -> None:
    result = run(op("copy", "/t", **{"from": "/a"}), op("add", "/t/b/-", value=4))
    assert result["a"] == {"b": [1, 2, 3]}


def test_unknown_fields_of_operations_are_named() -> None:
    patch = [op("add", "/a", value=1), op("add", "/b", vale=1)]
    assert json_patch.strict_errors(patch, []) == ['json patch unknown field "[1].vale"']


def test_null_patch_changes_nothing() -> None:
    assert json_patch.apply(DOC, None) == DOC


@given(json_objects, json_objects)
def test_replacing_the_document_gives_the_value(doc: dict[str, Any], value: dict[str, Any]) -> None:
    assert json_patch.apply(doc, [op("replace", "", value=value)]) == value


@given(json_objects)
def test_every_document_passes_the_test_for_itself(doc: dict[str, Any]) -> None:
    assert json_patch.apply(doc, [op("test", "", value=copy.deepcopy(doc))]) == doc


@given(json_objects, json_objects)
def test_moving_there_and_back_changes_nothing(doc: dict[str, Any], value: dict[str, Any]) -> None:
    doc = {**doc, "here": value}
    there, back = op("move", "/there", **{"from": "/here"}), op("move", "/here", **{"from": "/there"})
    assert json_patch.apply(doc, [there, back]) == doc


@given(json_objects, json_objects)
def test_adding_and_removing_changes_nothing(doc: dict[str, Any], value: dict[str, Any]) -> None:
    assert json_patch.apply(doc, [op("add", "/new", value=value), op("remove", "/new")]) == doc


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (op("add", "/zz/y", value=1), 'add operation does not apply: doc is missing path: "/zz/y": missing value'),
        (op("remove", "/zz/y"), 'remove operation does not apply: doc is missing path: "/zz/y": missing value'),
        (
            op("replace", "/zz/y", value=1),
            "replace operation does not apply: doc is missing path: /zz/y: missing value",
        ),
        (
            op("replace", "/a/b/9", value=1),
            "replace operation does not apply: doc is missing key: /a/b/9: missing value",
        ),
        (op("test", "/zz/y", value=1), "test operation does not apply: is missing path: /zz/y: missing value"),
        (op("test", "/s", value="other"), "testing value /s failed: test failed"),
        (op("remove", "/zz"), "error in remove for path: '/zz': Unable to remove nonexistent key: zz: missing value"),
        (
            op("add", "/a/b/9", value=1),
            "error in add for path: '/a/b/9': Unable to access invalid index: 9: invalid index referenced",
        ),
        (
            op("add", "/a/b/x", value=1),
            "error in add for path: '/a/b/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": "
            "invalid syntax",
        ),
        (op("remove", "/a/b/x"), "error in remove for path: '/a/b/x': strconv.Atoi: parsing \"x\": invalid syntax"),
        (
            op("copy", "/zz/t", **{"from": "/a"}),
            "copy operation does not apply: doc is missing destination path: /zz/t: missing value",
        ),
        (op("copy", "/t"), "copy operation failed to decode from: operation, missing from field: missing value"),
        (
            op("move", "/t", **{"from": "/zz/y"}),
            "move operation does not apply: doc is missing from path: /zz/y: missing value",
        ),
        ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
        (
            {"op": "test", "value": 1},
            "test operation failed to decode path: operation missing path field: missing value",
        ),
        (op("frob", "/a"), "Unexpected kind: frob"),
        ({"path": "/a"}, "Unexpected kind: unknown"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)
def test_apply_or_explain_names_the_failed_operation(operation: Any, text: str) -> None:
    with pytest.raises(json_patch.NotApplicableError) as caught:
        json_patch.apply_or_explain(DOC, [operation])
    assert str(caught.value) == text


def test_copies_into_themselves_that_become_too_deep_are_refused() -> None:
    copies = [op("copy", "/a/b/0", **{"from": "/a"})] * 300
    with pytest.raises(StatusError) as caught:
        run(*copies)
    assert caught.value.code == 422
