"""Values that a custom resource may hold (F10-F18, F21, F33-F35, F38, F42, C15)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import (
    CRDS,
    GROUP,
    SHIRTS,
    change,
    crd,
    define,
    messages,
    schema,
    shirt,
    version,
)
from tests.server.verbs.conftest import api

__all__ = ["api"]

STRING = {"type": "string"}
NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
    "existing errors to complete validation"
)


@pytest.mark.parametrize(
    ("node", "value", "expected"),
    [
        pytest.param(
            STRING, 1, 'Invalid value: "integer": spec.a in body must be of type string: "integer"', id="type"
        ),
        pytest.param(
            {"type": "integer", "maximum": 3}, 4, "spec.a in body should be less than or equal to 3", id="maximum"
        ),
        pytest.param(
            {"type": "integer", "multipleOf": 2}, 3, "spec.a in body should be a multiple of 2", id="multiple"
        ),
        pytest.param(
            {"type": "string", "enum": ["x", "y"]},
            "z",
            'Unsupported value: "z": supported values: "x", "y"',
            id="enum",
        ),
        pytest.param({"type": "string", "pattern": "^a+$"}, "b", "spec.a in body should match '^a+$'", id="pattern"),
        pytest.param({"type": "string", "maxLength": 1}, "bb", "may not be more than 1", id="length"),
        pytest.param({"type": "string", "format": "date"}, "x", "must be of type date", id="format"),
        pytest.param(
            {"type": "array", "items": STRING}, [None], 'spec.a[0] in body must be of type string: "null"', id="null"
        ),
    ],
)
async def test_values_must_fit_their_schema(api: Api, node: Any, value: Any, expected: str) -> None:
    openapi = schema({"a": node})
    openapi["properties"]["spec"]["required"] = ["a"]
    await define(api, openapi)
    response = await api.post(SHIRTS, shirt("x", {"a": value}))
    assert (response.code, response.reason) == (422, "Invalid"), response.body
    assert messages(response)[0].startswith("spec.a")
    assert expected in response.message, response.message


async def test_a_missing_field_is_required(api: Api) -> None:
    openapi = schema({"a": STRING})
    openapi["properties"]["spec"]["required"] = ["a"]
    await define(api, openapi)
    assert messages(await api.post(SHIRTS, shirt("x", {}))) == ["spec.a: Required value"]


async def test_a_field_outside_the_schema_is_dropped(api: Api) -> None:
    await define(api)
    created = await api.create(SHIRTS, shirt("x", {"color": "blue", "other": 1}, extra=2))
    assert (created["spec"], "extra" in created) == ({"color": "blue"}, False)


async def test_field_validation_reports_what_is_dropped(api: Api) -> None:
    await define(api)
    body = shirt("x", {"color": "blue", "other": 1})
    assert (await api.post(SHIRTS, body)).warnings == ['unknown field "spec.other"']
    strict = await api.post(f"{SHIRTS}?fieldValidation=Strict", body)
    text = 'Shirt in version "v1" cannot be handled as a Shirt: strict decoding error: unknown field "spec.other"'
    assert (strict.code, strict.message) == (400, text)
    assert (await api.post(f"{SHIRTS}?fieldValidation=Ignore", {**body, "metadata": {"name": "y"}})).warnings == []


async def test_a_field_removed_from_the_schema_is_dropped_on_read(api: Api) -> None:
    await define(api, schema({"a": STRING, "b": STRING}))
    await api.create(SHIRTS, shirt("x", {"a": "1", "b": "2"}))
    await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", schema({"a": STRING}))))
    assert (await api.get(f"{SHIRTS}/x")).body["spec"] == {"a": "1"}
    assert (await api.get(SHIRTS)).body["items"][0]["spec"] == {"a": "1"}


async def test_unknown_fields_are_kept_where_the_schema_is_reported(api: Api) -> None:
    node = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"n": {"type": "integer"}}}
    await define(api, schema({"a": node, "b": {"x-kubernetes-preserve-unknown-fields": True}}))
    spec = {"a": {"n": 1, "x": {"y": [1]}}, "b": [1, {"z": None}]}
    assert (await api.create(SHIRTS, shirt("x", spec)))["spec"] == spec
    assert (await api.post(SHIRTS, shirt("y", {"a": {"n": "1"}}))).code == 422


async def test_defaults_are_filled_in_on_write(api: Api) -> None:
    await define(api, schema({"a": {"type": "string", "default": "x"}, "b": {"type": "integer", "default": 3}}))
    assert (await api.create(SHIRTS, shirt("x", {"b": 1})))["spec"] == {"a": "x", "b": 1}
    assert "spec" not in await api.create(SHIRTS, shirt("y"))


async def test_defaults_are_filled_in_when_an_old_object_is_read(api: Api) -> None:
    await define(api)
    await api.create(SHIRTS, shirt("x", {"color": "blue"}))
    openapi = schema({"color": STRING, "size": {"type": "integer", "default": 3}})
    await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", openapi)))
    assert (await api.get(f"{SHIRTS}/x")).body["spec"] == {"color": "blue", "size": 3}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param({"type": "string", "default": "x"}, {"a": "x"}, id="a default replaces it"),
        pytest.param({"type": "string", "nullable": True, "default": "x"}, {"a": None}, id="nullable keeps it"),
        pytest.param({"type": "string", "nullable": True}, {"a": None}, id="nullable without default keeps it"),
    ],
)
async def test_null(api: Api, node: Any, expected: Any) -> None:
    await define(api, schema({"a": node}))
    assert (await api.create(SHIRTS, shirt("x", {"a": None})))["spec"] == expected


@pytest.mark.parametrize(("value", "code"), [(1, 201), ("1%", 201), (1.5, 422), ([], 422)], ids=repr)
async def test_int_or_string(api: Api, value: Any, code: int) -> None:
    await define(api, schema({"a": {"x-kubernetes-int-or-string": True}}))
    assert (await api.post(SHIRTS, shirt("x", {"a": value}))).code == code


async def test_embedded_resources_are_objects(api: Api) -> None:
    node = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"y": STRING}}
    await define(api, schema({"a": node}))
    response = await api.post(SHIRTS, shirt("x", {"a": {"metadata": {"name": "n"}}}))
    assert messages(response) == ["spec.a.apiVersion: Required value", "spec.a.kind: Required value"]
    inner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "n", "labels": {"a": "b"}, "other": 1},
        "x": 1,
        "y": "2",
    }
    created = await api.create(SHIRTS, shirt("x", {"a": inner}))
    assert created["spec"]["a"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "y": "2",
    }


async def test_sets_and_maps_hold_nothing_twice(api: Api) -> None:
    items = {"type": "object", "required": ["k"], "properties": {"k": STRING}}
    await define(
        api,
        schema(
            {
                "s": {"type": "array", "x-kubernetes-list-type": "set", "items": STRING},
                "m": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": items,
                },
            }
        ),
    )
    response = await api.post(SHIRTS, shirt("x", {"s": ["a", "b", "a"], "m": [{"k": "1"}, {"k": "1"}]}))
    assert sorted(messages(response)) == [
        'spec.m[1]: Duplicate value: {"k":"1"}',
        'spec.s[2]: Duplicate value: "a"',
    ]


RULE = {"rule": "self.a < 10", "message": "too much"}
RULES = schema({"a": {"type": "integer"}, "b": {"type": "string", "maxLength": 5}})
RULES["properties"]["spec"]["x-kubernetes-validations"] = [RULE]


async def test_rules_are_run(api: Api) -> None:
    await define(api, RULES)
    assert messages(await api.post(SHIRTS, shirt("x", {"a": 10}))) == ["spec: Invalid value: too much"]
    assert (await api.post(SHIRTS, shirt("x", {"a": 9}))).code == 201


async def test_rules_are_not_run_on_an_object_of_the_wrong_shape_and_an_error_is_reported(api: Api) -> None:
    await define(api, RULES)
    response = await api.post(SHIRTS, shirt("x", {"a": 10, "b": "x" * 6}))
    assert (len(response.causes), messages(response)[1]) == (2, NOT_CHECKED)


async def test_rules_on_transitions_see_the_old_value(api: Api) -> None:
    node = {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "stays"}]}
    await define(api, schema({"a": node}))
    await api.create(SHIRTS, shirt("x", {"a": "1"}))
    response = await api.patch(f"{SHIRTS}/x", {"spec": {"a": "2"}})
    assert messages(response) == ['spec.a: Invalid value: "2": stays']


async def test_faults_of_unchanged_values_are_let_through(api: Api) -> None:
    await define(api)
    await api.create(SHIRTS, shirt("x", {"color": "blue", "size": 1}))
    stricter = schema({"color": {"type": "string", "maxLength": 1}, "size": {"type": "integer"}})
    stricter["properties"]["spec"]["properties"]["color"]["x-kubernetes-validations"] = [{"rule": "self == 'x'"}]
    await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", stricter)))
    assert (await api.patch(f"{SHIRTS}/x", {"spec": {"size": 2}})).code == 200
    assert (await api.patch(f"{SHIRTS}/x", {"spec": {"color": "green"}})).code == 422


async def test_metadata_is_typed(api: Api) -> None:
    await define(api)
    body = shirt("x")
    body["metadata"]["other"] = 1
    response = await api.post(SHIRTS, body)
    assert (response.code, response.warnings, "other" in response.metadata) == (
        201,
        ['unknown field "metadata.other"'],
        False,
    )
    body["metadata"] = {"name": "y", "labels": {"a": 1}}
    assert (await api.post(SHIRTS, body)).code == 400


async def test_an_update_needs_a_resource_version(api: Api) -> None:
    await define(api)
    body = await api.create(SHIRTS, shirt("x"))
    del body["metadata"]["resourceVersion"]
    response = await api.put(f"{SHIRTS}/x", body)
    assert response.code == 422
    assert messages(response) == ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"]


@pytest.mark.parametrize(
    ("kind", "body", "code"),
    [
        pytest.param("json", [{"op": "add", "path": "/spec/color", "value": "red"}], 200, id="json"),
        pytest.param("merge", {"spec": {"color": "red"}}, 200, id="merge"),
        pytest.param("strategic", {"spec": {"color": "red"}}, 415, id="strategic"),
    ],
)
async def test_kinds_of_patches(api: Api, kind: str, body: Any, code: int) -> None:
    await define(api)
    await api.create(SHIRTS, shirt("x", {"color": "blue"}))
    assert (await api.patch(f"{SHIRTS}/x", body, kind)).code == code


async def test_apply_creates_and_changes(api: Api) -> None:
    await define(api)
    assert (await api.apply(f"{SHIRTS}/x", shirt("x", {"color": "blue", "size": 1}))).code == 201
    response = await api.apply(f"{SHIRTS}/x", shirt("x", {"color": "red"}))
    assert (response.code, response.body["spec"]) == (200, {"color": "red"})


async def test_the_generation_counts_changes_outside_metadata(api: Api) -> None:
    await define(api)
    assert (await api.create(SHIRTS, shirt("x")))["metadata"]["generation"] == 1
    changed = await api.patch(f"{SHIRTS}/x", {"spec": {"size": 1}})
    labelled = await api.patch(f"{SHIRTS}/x", {"metadata": {"labels": {"a": "b"}}})
    assert [response.metadata["generation"] for response in (changed, labelled)] == [2, 2]


async def test_unqualified_finalizers_are_warned_of(api: Api) -> None:
    await define(api)
    body = shirt("x")
    body["metadata"]["finalizers"] = ["hold"]
    response = await api.post(SHIRTS, body)
    assert response.warnings == [
        'metadata.finalizers: "hold": prefer a domain-qualified finalizer name to avoid accidental conflicts with '
        "other finalizer writers"
    ]
    assert (await api.patch(f"{SHIRTS}/x", {"spec": {"size": 1}})).warnings == []


async def test_a_crd_may_be_larger_than_an_annotation(api: Api) -> None:
    many = {f"field{number}": {"type": "string", "description": "x" * 300} for number in range(1500)}
    body = crd(version("v1", schema(many)))
    assert (await api.post(CRDS, body)).code == 201
    too_large = crd(
        version("v1", schema({"a": {"type": "string", "description": "x" * 1_600_000}})), group="big.example.com"
    )
    assert (await api.post(CRDS, too_large)).code == 413
    assert (await api.post(SHIRTS, shirt("x", {"field7": "y"}))).code == 201
    assert GROUP in SHIRTS


@pytest.mark.parametrize("value", [{"x": 1}, [{"x": 1}]])
@pytest.mark.parametrize("node", [STRING, {"type": "array", "items": {"type": "integer"}}])
async def test_below_a_scalar_every_field_is_unknown(api: Api, node: Any, value: Any) -> None:
    await define(api, schema({"a": node}))
    response = await api.post(f"{SHIRTS}?fieldValidation=Strict", shirt(spec={"a": value}))
    place = "spec.a[0].x" if isinstance(value, list) else "spec.a.x"
    assert (response.code, response.message.endswith(f'strict decoding error: unknown field "{place}"')) == (400, True)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param(
            {"properties": {"apiVersion": {"type": "string", "pattern": "^other/v1$"}}},
            f"apiVersion: Invalid value: \"{GROUP}/v1\": apiVersion in body should match '^other/v1$'",
            id="apiVersion",
        ),
        pytest.param(
            {"properties": {"kind": {"type": "string", "maxLength": 1}}},
            "kind: Too long: may not be more than 1 bytes",
            id="kind",
        ),
        pytest.param({"minProperties": 9}, "<nil>: Invalid value: 4: ", id="root"),
        pytest.param({"required": ["status"]}, "status: Required value", id="required"),
        pytest.param(
            {"x-kubernetes-validations": [{"rule": "self.metadata.name == 'y'", "message": "is y"}]},
            "<nil>: Invalid value: is y",
            id="rule",
        ),
    ],
)
async def test_errors_at_the_root_are_not_let_through_if_nothing_changed(api: Api, rule: Any, expected: str) -> None:
    await define(api)
    body = await api.create(SHIRTS, shirt("x", {"color": "blue"}))
    stricter = schema({"color": STRING})
    properties = {**stricter["properties"], **rule.get("properties", {})}
    await change(
        api,
        lambda obj: obj["spec"]["versions"][0].update(version("v1", {**stricter, **rule, "properties": properties})),
    )
    for response in (await api.patch(f"{SHIRTS}/x", {"i": 1}), await api.put(f"{SHIRTS}/x", body)):
        assert (response.code, [message.startswith(expected) for message in messages(response)]) == (
            422,
            [True],
        ), messages(response)


async def test_names_are_checked_as_the_schema_declares_them(api: Api) -> None:
    names = {"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}}
    openapi = schema({"color": STRING})
    openapi["properties"]["metadata"] = names
    await define(api, openapi)
    assert (await api.post(SHIRTS, shirt("a"))).code == 201
    refused = await api.post(SHIRTS, shirt("b"))
    assert messages(refused) == ["metadata.name: Invalid value: \"b\": metadata.name in body should match '^a'"]


@pytest.mark.parametrize(
    ("node", "given"),
    [
        pytest.param(
            {
                "properties": {
                    "metadata": {
                        "type": "object",
                        "properties": {name: {"type": "string", "default": "x"} for name in ("name", "unknown")},
                    }
                }
            },
            {"metadata": {}},
            id="fields",
        ),
        pytest.param(
            {"properties": {"metadata": {"type": "object", "default": {"name": "x", "unknown": "x"}}}},
            {},
            id="metadata",
        ),
        pytest.param(
            {
                "x-kubernetes-preserve-unknown-fields": True,
                "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "unknown": "x"}},
            },
            None,
            id="object",
        ),
    ],
)
async def test_defaults_of_embedded_metadata_have_only_fields_of_metadata(api: Api, node: Any, given: Any) -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, **node}
    await define(api, schema({"list": {"type": "array", "items": {"type": "object", "properties": {"a": embedded}}}}))
    if given is not None:
        given = {"a": {"apiVersion": "v1", "kind": "Pod", **given}}
    created = await api.create(SHIRTS, shirt("x", {"list": [given or {}]}))
    assert created["spec"]["list"][0]["a"]["metadata"] == {"name": "x"}
