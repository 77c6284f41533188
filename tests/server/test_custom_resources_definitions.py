"""Valid and invalid CRDs, and their status (F1-F5, F8, F9, F17, F19, F25, F30-F32, F34, F41)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import (
    CRD,
    CRDS,
    GROUP,
    SHIRTS,
    change,
    condition,
    crd,
    define,
    eventually,
    messages,
    schema,
    shirt,
    version,
)
from tests.server.verbs.conftest import api

__all__ = ["api"]

STRING = {"type": "string"}


async def refused(api: Api, body: Any) -> list[str]:
    """The faults of a CRD that is refused."""
    response = await api.post(CRDS, body)
    assert (response.code, response.reason) == (422, "Invalid"), response.body
    return messages(response)


async def test_the_name_is_plural_and_group(api: Api) -> None:
    body = crd()
    body["metadata"]["name"] = "shirts.other.example.com"
    assert await refused(api, body) == [
        'metadata.name: Invalid value: "shirts.other.example.com": must be spec.names.plural+"."+spec.group'
    ]


async def test_a_group_needs_a_dot(api: Api) -> None:
    assert await refused(api, crd(group="shop")) == [
        'spec.group: Invalid value: "shop": should be a domain with at least one dot'
    ]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        pytest.param([version(), version()], "must contain unique version names", id="twice"),
        pytest.param(
            [version(storage=False)],
            'spec.versions: Invalid value: [{"name":"v1","served":true,"storage":false}]: '
            "must have exactly one version marked as storage version",
            id="no storage",
        ),
        pytest.param([version("V1")], "a DNS-1035 label must consist of", id="no label"),
    ],
)
async def test_versions_have_unique_names_and_one_is_stored(api: Api, versions: list[Any], expected: str) -> None:
    assert any(expected in text for text in await refused(api, crd(*versions)))


async def test_a_new_storage_version_joins_the_stored_versions(api: Api) -> None:
    assert (await define(api))["status"]["storedVersions"] == ["v1"]

    def alter(obj: Any) -> None:
        obj["spec"]["versions"][0]["storage"] = False
        obj["spec"]["versions"].append(version("v2"))

    assert (await change(api, alter)).body["status"]["storedVersions"] == ["v1", "v2"]


async def test_a_version_that_is_stored_cannot_be_removed_until_the_status_is_reported(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))

    def switch(obj: Any) -> None:
        obj["spec"]["versions"] = [version("v2")]

    response = await change(api, switch)
    assert response.code == 422
    assert messages(response)[0].startswith('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions')

    def store_v2(obj: Any) -> None:
        obj["spec"]["versions"] = [version("v1", storage=False), version("v2")]

    assert (await change(api, store_v2)).code == 200
    cut = await change(api, lambda obj: obj["status"].update(storedVersions=["v2"]), f"{CRD}/status")
    assert cut.body["status"]["storedVersions"] == ["v2"]
    assert (await change(api, switch)).code == 200


@pytest.mark.parametrize("stored", [["v2"], ["v1", "gone"], ["gone"]])
async def test_a_status_may_have_any_stored_versions(api: Api, stored: list[str]) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    response = await change(api, lambda obj: obj["status"].update(storedVersions=stored), f"{CRD}/status")
    assert (response.code, response.body["status"]["storedVersions"]) == (200, stored)


async def test_stored_versions_of_a_status_are_checked_by_the_next_update(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    await change(api, lambda obj: obj["status"].update(storedVersions=["gone"]), f"{CRD}/status")
    response = await change(api, lambda obj: obj["metadata"].update(labels={"a": "b"}))
    text = 'status.storedVersions[0]: Invalid value: "gone": missing from spec.versions'
    assert messages(response)[0].startswith(text)


@pytest.mark.parametrize(
    ("field", "alter"),
    [
        pytest.param("spec.scope", lambda spec: spec.update(scope="Cluster"), id="scope"),
        pytest.param("spec.names.kind", lambda spec: spec["names"].update(kind="Shirtx"), id="kind"),
        pytest.param("spec.group", lambda spec: spec.update(group="other.example.com"), id="group"),
        pytest.param("spec.names.plural", lambda spec: spec["names"].update(plural="shirtx"), id="plural"),
    ],
)
async def test_fields_that_define_the_storage_are_immutable(api: Api, field: str, alter: Any) -> None:
    await define(api)
    texts = messages(await change(api, lambda obj: alter(obj["spec"])))
    assert any(text.startswith(field) and "field is immutable" in text for text in texts)


async def test_conditions_of_an_established_crd(api: Api) -> None:
    await define(api)
    body = (await api.get(CRD)).body
    assert [(c["type"], c["status"], c["reason"]) for c in body["status"]["conditions"]] == [
        ("NamesAccepted", "True", "NoConflicts"),
        ("Established", "True", "InitialNamesAccepted"),
    ]
    assert not any("observedGeneration" in condition for condition in body["status"]["conditions"])


async def test_a_created_crd_is_returned_with_its_first_status(api: Api) -> None:
    assert (await define(api))["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }


async def test_defaults_of_a_crd(api: Api) -> None:
    spec = (await define(api))["spec"]
    assert spec["names"] == {"plural": "shirts", "singular": "shirt", "kind": "Shirt", "listKind": "ShirtList"}
    assert spec["conversion"] == {"strategy": "None"}
    assert "finalizers" not in (await api.get(CRD)).body["metadata"]


@pytest.mark.parametrize(
    ("names", "reason", "text"),
    [
        pytest.param({"singular": "shirt"}, "SingularConflict", '"shirt" is already in use', id="singular"),
        pytest.param({"shortNames": ["sh"]}, "ShortNamesConflict", '"sh" is already in use', id="short name"),
        pytest.param({"kind": "Shirt"}, "ListKindConflict", '"ShirtList" is already in use', id="list kind"),
        pytest.param({"kind": "Shirt", "listKind": "Other"}, "KindConflict", '"Shirt" is already in use', id="kind"),
    ],
)
async def test_names_are_unique_in_a_group(api: Api, names: Any, reason: str, text: str) -> None:
    await api.create(CRDS, crd(names={"shortNames": ["sh"]}))
    await api.create(CRDS, crd(names={"plural": "blouses", "kind": "Blouse", **names}))
    body = (await api.get(f"{CRDS}/blouses.{GROUP}")).body
    assert condition(body, "NamesAccepted") | {"status": "False", "reason": reason, "message": text} == condition(
        body, "NamesAccepted"
    )
    assert condition(body, "Established")["reason"] == "NotAccepted"
    assert (await api.get(f"/apis/{GROUP}/v1/blouses")).code == 404


async def test_names_are_free_when_their_holder_has_gone(api: Api) -> None:
    await define(api)
    await api.create(CRDS, crd(names={"plural": "blouses", "kind": "Shirt"}))
    await api.delete(CRD)
    await eventually(lambda: api.get(f"/apis/{GROUP}/v1/blouses"), lambda response: response.code == 200)


async def test_names_are_free_when_their_holder_changes_them(api: Api) -> None:
    await api.create(CRDS, crd(names={"shortNames": ["sh"]}))
    await api.create(CRDS, crd(names={"plural": "blouses", "kind": "Blouse", "shortNames": ["sh"]}))
    await change(api, lambda obj: obj["spec"]["names"].pop("shortNames"))
    body = (await api.get(f"{CRDS}/blouses.{GROUP}")).body
    assert condition(body, "NamesAccepted")["status"] == "True"
    assert body["status"]["acceptedNames"]["shortNames"] == ["sh"]


async def test_an_established_crd_keeps_its_names_when_new_ones_are_taken(api: Api) -> None:
    await define(api)
    await api.create(CRDS, crd(names={"plural": "blouses", "kind": "Blouse", "shortNames": ["bl"]}))
    await change(api, lambda obj: obj["spec"]["names"].update(shortNames=["bl"]))
    body = (await api.get(CRD)).body
    assert condition(body, "NamesAccepted")["reason"] == "ShortNamesConflict"
    assert "shortNames" not in body["status"]["acceptedNames"]
    assert (await api.get(SHIRTS)).code == 200


@pytest.mark.parametrize(
    ("openapi", "expected"),
    [
        pytest.param(
            schema({"a": {}}), "properties[spec].properties[a].type: Required value: must not be empty", id="no type"
        ),
        pytest.param(
            {"type": "array", "items": STRING}, 'type: Invalid value: "array": must be object at the root', id="root"
        ),
        pytest.param(
            schema({"a": {"type": "string", "anyOf": [{"type": "string"}]}}),
            "properties[spec].properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
            id="type in a junctor",
        ),
        pytest.param(
            {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": STRING}}}},
            "properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata "
            "is implicitly specified",
            id="metadata",
        ),
    ],
)
async def test_schemas_are_structural(api: Api, openapi: Any, expected: str) -> None:
    texts = await refused(api, crd(version(openapi=openapi)))
    assert any(f"spec.validation.openAPIV3Schema.{expected}" in text for text in texts), texts


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param({"$ref": "#/x"}, "$ref: Forbidden: $ref is not supported", id="$ref"),
        pytest.param({"type": "string", "id": "x"}, "id: Forbidden: id is not supported", id="id"),
        pytest.param(
            {"type": "array", "items": STRING, "uniqueItems": True}, "uniqueItems: Forbidden", id="uniqueItems"
        ),
        pytest.param(
            {"type": "object", "patternProperties": {"a": STRING}}, "patternProperties: Forbidden", id="patterns"
        ),
        pytest.param({"type": "object", "definitions": {"a": STRING}}, "definitions: Forbidden", id="definitions"),
        pytest.param({"type": "object", "dependencies": {"a": ["b"]}}, "dependencies: Forbidden", id="dependencies"),
        pytest.param({"type": "array", "items": [STRING]}, "items: Forbidden: items must be a schema", id="items"),
        pytest.param(
            {"type": "object", "properties": {"a": STRING}, "additionalProperties": STRING},
            "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
            id="both kinds of properties",
        ),
    ],
)
async def test_some_keywords_are_forbidden(api: Api, node: Any, expected: str) -> None:
    texts = await refused(api, crd(version(openapi=schema({"a": node}))))
    prefix = "spec.validation.openAPIV3Schema.properties[spec].properties[a]."
    assert any(text.startswith(prefix + expected) for text in texts), texts


async def test_the_root_is_not_nullable(api: Api) -> None:
    texts = await refused(api, crd(version(openapi=schema({}, nullable=True))))
    assert "spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root" in texts


async def test_schemas_that_differ_are_named_by_their_version(api: Api) -> None:
    texts = await refused(api, crd(version("v1"), version("v2", schema({"a": {}}), storage=False)))
    assert texts[0].startswith("spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type: Required")


async def test_every_version_has_a_schema(api: Api) -> None:
    bare = {"name": "v1", "served": True, "storage": True}
    assert await refused(api, crd(bare)) == ["spec.versions[0].schema.openAPIV3Schema: Required value"]


async def test_defaults_must_be_valid_themselves(api: Api) -> None:
    texts = await refused(api, crd(version(openapi=schema({"a": {"type": "string", "default": 1}}))))
    path = "spec.validation.openAPIV3Schema.properties[spec].properties[a].default"
    assert len(texts) == 1
    assert texts[0].startswith(f'{path}: Invalid value: "integer": ')
    assert texts[0].endswith('in body must be of type string: "integer"')


async def test_keys_of_a_map_list_are_required_or_defaulted(api: Api) -> None:
    node = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": STRING}},
    }
    texts = await refused(api, crd(version(openapi=schema({"a": node}))))
    assert any("must have a default or be a required property" in text for text in texts)


async def test_rules_that_do_not_compile_are_refused(api: Api) -> None:
    openapi = schema({"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self.x > 1"}]}})
    texts = await refused(api, crd(version(openapi=openapi)))
    assert "compilation failed" in texts[0]


async def test_rules_that_may_cost_too_much_are_refused(api: Api) -> None:
    node = {
        "type": "array",
        "items": STRING,
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
    }
    texts = await refused(api, crd(version(openapi=schema({"a": node}))))
    assert "estimated rule cost exceeds budget by factor of more than 100x" in texts[0]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param([".spec.missing"], "is an invalid path: does not refer to a valid field", id="unknown"),
        pytest.param([".metadata.name"], "must not point to fields in metadata", id="metadata"),
        pytest.param([".spec"], "must point to a field of type string, boolean or integer", id="object"),
        pytest.param([".spec.color", ".spec.color"], 'Duplicate value: ".spec.color"', id="twice"),
        pytest.param([f".spec.f{n}" for n in range(9)], "Too many: 9: must have at most 8 items", id="nine"),
    ],
)
async def test_selectable_fields_are_few_simple_paths_to_scalars(api: Api, paths: list[str], expected: str) -> None:
    openapi = schema({"color": STRING, **{f"f{n}": STRING for n in range(9)}})
    openapi["properties"]["metadata"] = {"type": "object", "properties": {"name": STRING}}
    fields = [{"jsonPath": path} for path in paths]
    texts = await refused(api, crd(version(openapi=openapi, selectableFields=fields)))
    assert any(expected in text for text in texts), texts


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({"deprecationWarning": "x"}, "can only be set for deprecated versions", id="not deprecated"),
        pytest.param(
            {"deprecated": True, "deprecationWarning": "x" * 257}, "must be <= 256 characters long", id="long"
        ),
        pytest.param({"deprecated": True, "deprecationWarning": ""}, "must not be an empty string", id="empty"),
    ],
)
async def test_deprecation_warnings_are_short_texts(api: Api, more: Any, expected: str) -> None:
    assert any(expected in text for text in await refused(api, crd(version(**more))))


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        pytest.param({}, "spec.subresources.scale.specReplicasPath: Required value", id="missing"),
        pytest.param(
            {"specReplicasPath": ".status.r", "statusReplicasPath": ".status.r"},
            "should be a json path under .spec",
            id="elsewhere",
        ),
        pytest.param(
            {"specReplicasPath": ".spec.r", "statusReplicasPath": ".status.r", "labelSelectorPath": ".x"},
            "should be a json path under either .spec or .status",
            id="selector",
        ),
    ],
)
async def test_scale_paths_are_under_spec_and_status(api: Api, scale: Any, expected: str) -> None:
    texts = await refused(api, crd(version(subresources={"scale": scale})))
    assert any(expected in text for text in texts), texts


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        pytest.param({"type": "string", "jsonPath": ".a"}, "name: Required value", id="name"),
        pytest.param({"name": "A", "type": "text", "jsonPath": ".a"}, "must be one of boolean,date", id="type"),
        pytest.param(
            {"name": "A", "type": "string", "format": "x", "jsonPath": ".a"}, "must be one of byte", id="form"
        ),
        pytest.param({"name": "A", "type": "string", "jsonPath": "a"}, "must be a simple json path", id="path"),
    ],
)
async def test_printer_columns_are_checked(api: Api, column: Any, expected: str) -> None:
    texts = await refused(api, crd(version(additionalPrinterColumns=[column])))
    assert any(text.startswith("spec.additionalPrinterColumns[0].") and expected in text for text in texts), texts


@pytest.mark.parametrize(
    ("annotation", "state"),
    [
        pytest.param("https://github.com/kubernetes/kubernetes/pull/1", ("True", "ApprovedAnnotation"), id="approved"),
        pytest.param("unapproved, a test", ("False", "UnapprovedAnnotation"), id="unapproved"),
    ],
)
async def test_protected_groups_need_an_approval(api: Api, annotation: str, state: tuple[str, str]) -> None:
    body = crd(group="x.k8s.io")
    missing = await refused(api, body)
    assert missing[0].startswith("metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    await api.create(CRDS, body)
    found = condition((await api.get(f"{CRDS}/shirts.x.k8s.io")).body, "KubernetesAPIApprovalPolicyConformant")
    assert (found["status"], found["reason"]) == state


async def test_an_approval_that_reports_nothing_is_refused(api: Api) -> None:
    body = crd(group="x.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "yes"}
    assert 'Invalid value: "yes"' in (await refused(api, body))[0]


async def test_unknown_fields_cannot_be_kept_by_the_spec(api: Api) -> None:
    texts = await refused(api, crd(preserveUnknownFields=True))
    assert any("set x-kubernetes-preserve-unknown-fields to true in spec.versions" in text for text in texts)


@pytest.mark.parametrize(
    ("conversion", "expected"),
    [
        pytest.param({"strategy": "Some"}, 'Unsupported value: "Some"', id="unknown"),
        pytest.param({"strategy": "Webhook"}, "required when strategy is set to Webhook", id="no client"),
        pytest.param(
            {"strategy": "Webhook", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1"]}},
            "exactly one of url or service is required",
            id="empty client",
        ),
        pytest.param(
            {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "http://a"}, "conversionReviewVersions": ["v1"]},
            },
            "'https' is the only allowed URL scheme",
            id="http",
        ),
        pytest.param(
            {"strategy": "None", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}},
            "should not be set when strategy is not set to Webhook",
            id="none with client",
        ),
    ],
)
async def test_conversions_are_checked(api: Api, conversion: Any, expected: str) -> None:
    texts = await refused(api, crd(conversion=conversion))
    assert any(expected in text for text in texts), texts


async def test_a_crd_is_not_updated_without_a_resource_version(api: Api) -> None:
    body = await define(api)
    del body["metadata"]["resourceVersion"]
    response = await api.put(CRD, body)
    assert messages(response) == ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"]


async def test_unknown_formats_are_warned_of_once(api: Api) -> None:
    openapi = schema({"a": {"type": "string", "format": "shade"}})
    response = await api.post(CRDS, crd(version(openapi=openapi)))
    assert (response.code, response.warnings) == (201, ['unrecognized format "shade"'])
    again = await change(api, lambda obj: obj["metadata"].update(labels={"a": "b"}))
    assert (again.code, again.warnings) == (200, [])


async def test_a_crd_of_a_built_in_resource_does_not_replace_it(api: Api) -> None:
    body = crd(group="networking.k8s.io", names={"plural": "ingresses", "kind": "Ingress"})
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved"}
    await api.create(CRDS, body)
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "a"},
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
    }
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    await api.create(path, ingress)
    name = f"{CRDS}/ingresses.networking.k8s.io"
    await api.delete(name)
    await eventually(lambda: api.get(name), lambda response: response.code == 404)
    assert (await api.get(f"{path}/a")).code == 200


async def test_a_custom_resource_can_be_created_right_after_its_crd(api: Api) -> None:
    await define(api)
    assert (await api.post(SHIRTS, shirt(spec={"color": "blue"}))).code == 201
    assert (await api.get(f"/apis/{GROUP}/v1")).body["resources"][0]["name"] == "shirts"


async def test_a_first_version_that_is_no_label_is_reported_as_the_version_too(api: Api) -> None:
    found = await refused(api, crd(version("V1")))
    assert [text.split(":")[0] for text in found] == ["spec.versions[0].name", "spec.version"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.size", "expected [ or . but got: spec"),
        (".spec.size[0]", "array notation is not allowed"),
        (".spec.nope", "does not refer to a valid field"),
        (".spec.", "unexpected end of JSON path"),
    ],
)
async def test_a_selectable_field_that_leads_nowhere_reports_why(api: Api, path: str, expected: str) -> None:
    body = crd(version(openapi=schema({"size": STRING}), selectableFields=[{"jsonPath": path}]))
    assert await refused(api, body) == [
        f'spec.selectableFields[0].jsonPath: Invalid value: "{path}": is an invalid path: {expected}'
    ]


async def test_a_selectable_field_may_be_an_entry_of_a_map(api: Api) -> None:
    openapi = schema({"labels": {"type": "object", "additionalProperties": STRING}})
    response = await api.post(
        CRDS, crd(version(openapi=openapi, selectableFields=[{"jsonPath": ".spec.labels.color"}]))
    )
    assert response.code == 201, response.body


async def test_a_default_may_repeat_the_items_of_a_set(api: Api) -> None:
    openapi = schema(
        {"tags": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set", "default": ["a", "a"]}}
    )
    response = await api.post(CRDS, crd(version(openapi=openapi)))
    assert response.code == 201, response.body


async def test_the_dialect_of_a_schema_cannot_be_declared(api: Api) -> None:
    found = await refused(
        api, crd(version(openapi=schema({"size": {**STRING, "$schema": "http://json-schema.org/schema#"}})))
    )
    assert found == ["spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]


@pytest.mark.parametrize("rule", ["self.namespace == 'a'", "self.__namespace__ == 'a'", "type(self.port) == int"])
async def test_rules_may_name_reserved_fields_and_compare_types(api: Api, rule: str) -> None:
    spec = {"namespace": STRING, "port": {"x-kubernetes-int-or-string": True}}
    openapi = schema(spec)
    openapi["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": rule}]
    response = await api.post(CRDS, crd(version(openapi=openapi)))
    assert response.code == 201, response.body
