"""Spec row E4."""

from typing import Any

import pytest
from hypothesis import given

from sampan.core.errors import StatusError
from sampan.patch import strategic_merge
from tests.patch.schemas import APP
from tests.patch.values import apps

Spec = dict[str, Any]


def spec_after(spec: Spec, patch: Spec) -> Spec:
    result: Spec = strategic_merge.apply({"spec": spec}, {"spec": patch}, APP)["spec"]
    return result


def named(*names: str, **more: Any) -> list[Spec]:
    return [{"name": name, **more} for name in names]


def names(items: list[Spec]) -> str:
    return "".join(item["name"] for item in items)


@pytest.mark.parametrize(
    ("spec", "patch", "expected"),
    [
        pytest.param({"replicas": 1}, {"paused": True}, {"replicas": 1, "paused": True}, id="maps merge"),
        pytest.param({"replicas": 1}, {"replicas": None}, {}, id="null deletes"),
        pytest.param({}, {"strategy": {"type": None}}, {"strategy": {}}, id="nulls of new maps are dropped"),
        pytest.param(
            {"containers": named("a", image="1")},
            {"containers": [{"name": "a", "args": ["x"]}]},
            {"containers": [{"name": "a", "image": "1", "args": ["x"]}]},
            id="items merge by key",
        ),
        pytest.param(
            {"containers": [{"name": "a", "ports": [{"containerPort": 1, "protocol": "TCP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 1, "name": "n"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 1, "protocol": "TCP", "name": "n"}]}]},
            id="the patch merge key alone decides",
        ),
        pytest.param(
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "b"}]},
            {"tolerations": [{"key": "b"}]},
            id="lists without strategy are replaced",
        ),
        pytest.param(
            {"containers": named("a", "b")},
            {"containers": [{"name": "a", "$patch": "delete"}]},
            {"containers": named("b")},
            id="item deleted",
        ),
        pytest.param(
            {"containers": named("a", "b")},
            {"containers": [{"$patch": "replace"}, {"name": "c"}]},
            {"containers": named("c")},
            id="list replaced",
        ),
        pytest.param(
            {"strategy": {"type": "x"}}, {"strategy": {"$patch": "delete"}}, {"strategy": {}}, id="map deleted"
        ),
        pytest.param(
            {"strategy": {"type": "x", "maxSurge": 1}},
            {"strategy": {"$patch": "replace", "type": "y"}},
            {"strategy": {"type": "y"}},
            id="map replaced",
        ),
        pytest.param(
            {"size": {"cpu": "1", "memory": "2"}},
            {"size": {"cpu": "3"}},
            {"size": {"cpu": "3"}},
            id="map of strategy replace",
        ),
        pytest.param(
            {},
            {"containers": [{"name": "a", "$patch": "delete"}, {"name": "b"}]},
            {"containers": named("b")},
            id="directives of a new list are dropped",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "emptyDir": {"medium": "m"}}]},
            {"volumes": [{"name": "v", "configMap": {"name": "c"}, "$retainKeys": ["name", "configMap"]}]},
            {"volumes": [{"name": "v", "configMap": {"name": "c"}}]},
            id="retainKeys drops the other kind of volume",
        ),
    ],
)
def test_patch_is_merged(spec: Spec, patch: Spec, expected: Spec) -> None:
    assert spec_after(spec, patch) == expected


@pytest.mark.parametrize(
    ("before", "patch", "expected"),
    [
        pytest.param(["a", "b"], {"finalizers": ["c", "a"]}, ["c", "a", "b"], id="sets merge, the patch's order leads"),
        pytest.param(["a", "b", "c"], {"$deleteFromPrimitiveList/finalizers": ["b"]}, ["a", "c"], id="delete"),
        pytest.param(
            ["a", "b", "c"], {"$setElementOrder/finalizers": ["c", "a"]}, ["b", "c", "a"], id="order of a set"
        ),
        pytest.param(
            ["a", "b"],
            {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["c", "b"],
                "finalizers": ["c"],
            },
            ["c", "b"],
            id="delete, add and order",
        ),
    ],
)
def test_sets_of_scalars(before: list[str], patch: Spec, expected: list[str]) -> None:
    result = strategic_merge.apply({"metadata": {"finalizers": before}}, {"metadata": patch}, APP)
    assert result["metadata"]["finalizers"] == expected


@pytest.mark.parametrize(
    ("before", "patch", "order", "expected"),
    [
        ("abc", "", "cba", "cba"),
        ("abc", "", "cb", "acb"),
        ("abcd", "", "db", "acdb"),
        ("ab", "c", "cab", "cab"),
        ("ab", "c", "acb", "acb"),
        ("axb", "c", "bca", "xbca"),
        ("", "ab", "ba", ""),
        ("xa", "b", "ab", "xab"),
    ],
)
def test_items_follow_set_element_order_and_other_items_keep_their_place(
    before: str, patch: str, order: str, expected: str
) -> None:
    document: Spec = {"$setElementOrder/containers": named(*order)}
    if patch:
        document["containers"] = named(*patch)
    if not expected:
        with pytest.raises(StatusError):
            spec_after({"containers": named(*before)}, document)
        return
    assert names(spec_after({"containers": named(*before)}, document)["containers"]) == expected


@pytest.mark.parametrize(
    ("spec", "patch", "code", "message"),
    [
        pytest.param(
            {}, {"$retainKeys": "x"}, 400, "invalid patch format of retainKeys", id="retainKeys that is no list"
        ),
        pytest.param(
            {},
            {"$retainKeys": ["paused"], "replicas": 1},
            400,
            "invalid patch format of retainKeys",
            id="patch sets more than retainKeys",
        ),
        pytest.param(
            {},
            {"$deleteFromPrimitiveList": []},
            400,
            "invalid patch format of primitive list",
            id="delete list without a field",
        ),
        pytest.param(
            {"containers": []},
            {"$setElementOrderX/containers": []},
            400,
            "invalid patch format of setElementOrder list",
            id="order list with a wrong name",
        ),
        pytest.param(
            {"matrix": [["a"]]},
            {"matrix": [["b"]]},
            422,
            "the server rejected our request due to an error in our request",
            id="list of lists",
        ),
        pytest.param(
            {"containers": named("a")},
            {"containers": [{"image": "x"}]},
            500,
            "map: map[image:x] does not contain declared merge key: name",
            id="item without its merge key",
        ),
        pytest.param(
            {"strategy": {}},
            {"strategy": {"$patch": "frob"}},
            500,
            "unknown patch type: frob in map: map[$patch:frob]",
            id="unknown directive",
        ),
        pytest.param(
            {"containers": named("a")},
            {"containers": [{"name": "a", "$patch": "merge"}]},
            500,
            "merging lists cannot yet be specified in the patch",
            id="merge directive in a list",
        ),
        pytest.param(
            {"containers": named("a")},
            {"containers": ["a"]},
            500,
            "list element types are not identical: [[map[name:a]] [a]]",
            id="mixed items",
        ),
        pytest.param(
            {"containers": named("a")},
            {"containers": named("a"), "$setElementOrder/containers": ["a"]},
            500,
            "items of a list with merge key name must be objects, but one has type string",
            id="order of texts",
        ),
        pytest.param(
            {"zz": {"a": 1}},
            {"zz": {"b": 1}},
            500,
            'unable to find api field in struct AppSpec for the json field "zz"',
            id="unknown field on both sides",
        ),
    ],
)
def test_invalid_patch_is_rejected(spec: Spec, patch: Spec, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        spec_after(spec, patch)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_order_that_does_not_name_all_items_of_the_patch_gives_500() -> None:
    with pytest.raises(StatusError, match="The order in patch list:") as caught:
        spec_after({"containers": named("a")}, {"$setElementOrder/containers": named("a"), "containers": named("b")})
    assert caught.value.code == 500


def test_deleted_items_need_not_be_in_the_order_list() -> None:
    patch = {"$setElementOrder/containers": named("b"), "containers": [{"name": "a", "$patch": "delete"}]}
    assert spec_after({"containers": named("a", "b")}, patch) == {"containers": named("b")}


def test_custom_resources_have_no_strategic_merge_patch() -> None:
    with pytest.raises(StatusError) as caught:
        strategic_merge.apply({}, {}, None)
    assert (caught.value.code, caught.value.message) == (400, "strategic merge patch format is not supported")


@pytest.mark.parametrize("patch", [[1], "x", 3])
def test_patch_that_is_not_an_object_gives_400(patch: Any) -> None:
    with pytest.raises(StatusError) as caught:
        strategic_merge.apply({}, patch, APP)
    assert caught.value.code == 400


def test_result_shares_nothing_with_document_or_patch() -> None:
    doc: Spec = {"spec": {"containers": named("a", args=["x"])}}
    patch: Spec = {"spec": {"containers": named("b", args=["y"])}}
    result = strategic_merge.apply(doc, patch, APP)
    for container in result["spec"]["containers"]:
        container["args"].append("z")
    assert doc == {"spec": {"containers": named("a", args=["x"])}}
    assert patch == {"spec": {"containers": named("b", args=["y"])}}


@given(apps)
def test_empty_patch_changes_nothing(app: Spec) -> None:
    assert strategic_merge.apply(app, {}, APP) == app


def without_raw(app: Spec) -> Spec:
    spec = {key: value for key, value in app.get("spec", {}).items() if key != "raw"}
    return {**app, "spec": spec}


@given(apps)
def test_object_merged_into_an_empty_object_is_unchanged(app: Spec) -> None:
    assert strategic_merge.apply({}, app, APP) == app


@given(apps, apps)
def test_merging_twice_is_merging_once(app: Spec, patch: Spec) -> None:
    app, patch = without_raw(app), without_raw(patch)
    once = strategic_merge.apply(app, patch, APP)
    assert strategic_merge.apply(once, patch, APP) == once


@given(apps, apps)
def test_every_value_of_the_patch_is_in_the_result(app: Spec, patch: Spec) -> None:
    app, patch = without_raw(app), without_raw(patch)
    merged = strategic_merge.apply(app, patch, APP)["spec"]
    desired = {item["name"] for item in patch["spec"].get("containers", [])}
    assert desired <= {item["name"] for item in merged.get("containers", [])}
    for name in ("replicas", "paused", "tolerations"):
        if name in patch["spec"]:
            assert merged[name] == patch["spec"][name]


@pytest.mark.parametrize(
    "patch",
    [{"containers": [{"name": {}}]}, {"containers": [{"name": [], "$patch": "delete"}]}],
    ids=["a map", "a list of a deletion"],
)
def test_a_merge_key_that_is_no_scalar_is_refused(patch: Spec) -> None:
    with pytest.raises(StatusError) as refused:
        spec_after({"containers": named("a")}, patch)
    assert refused.value.code == 422
