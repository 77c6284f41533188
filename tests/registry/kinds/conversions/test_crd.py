"""Conversion of CustomResourceDefinitions between v1beta1 and v1."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.registry.kinds.apiextensions.v1beta1_conversion import CustomResourceDefinitionConversion

CONVERSION = CustomResourceDefinitionConversion()

OLD = {
    "metadata": {"name": "networks.samplecrd.k8s.io"},
    "spec": {
        "group": "samplecrd.k8s.io",
        "version": "v1",
        "names": {"kind": "Network", "plural": "networks"},
        "scope": "Namespaced",
    },
}


def to_hub(spec: Object) -> Any:
    return CONVERSION.to_hub({"metadata": {}, "spec": copy.deepcopy(spec)})["spec"]


def from_hub(spec: Object) -> Any:
    return CONVERSION.from_hub({"metadata": {}, "spec": copy.deepcopy(spec)})["spec"]


def test_an_old_manifest_with_one_version_and_no_schema_becomes_v1() -> None:
    assert CONVERSION.to_hub(copy.deepcopy(OLD))["spec"] == {
        "group": "samplecrd.k8s.io",
        "names": {"kind": "Network", "plural": "networks"},
        "scope": "Namespaced",
        "preserveUnknownFields": True,
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }


def test_fields_for_all_versions_are_copied_to_each_version() -> None:
    columns = [{"name": "Age", "type": "date", "JSONPath": ".metadata.creationTimestamp"}]
    spec = to_hub(
        {
            "versions": [{"name": "v1"}, {"name": "v2"}],
            "validation": {"openAPIV3Schema": {"type": "object"}},
            "subresources": {"status": {}},
            "additionalPrinterColumns": columns,
            "selectableFields": [{"jsonPath": ".spec.a"}],
        }
    )
    for version in spec["versions"]:
        del version["name"]
        assert version == {
            "schema": {"openAPIV3Schema": {"type": "object"}},
            "subresources": {"status": {}},
            "additionalPrinterColumns": [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
            "selectableFields": [{"jsonPath": ".spec.a"}],
        }


def test_versions_do_not_share_copied_fields() -> None:
    spec = to_hub({"versions": [{"name": "v1"}, {"name": "v2"}], "subresources": {"status": {}}})
    assert spec["versions"][0]["subresources"] is not spec["versions"][1]["subresources"]


def test_equal_versions_are_shown_once() -> None:
    schema = {"openAPIV3Schema": {"type": "object"}}
    spec = from_hub({"versions": [{"name": "v1", "schema": schema}, {"name": "v2", "schema": schema}]})
    assert spec["validation"] == schema
    assert spec["version"] == "v1"
    assert spec["versions"] == [{"name": "v1"}, {"name": "v2"}]


def test_versions_that_differ_keep_their_fields() -> None:
    spec = from_hub({"versions": [{"name": "v1", "subresources": {"status": {}}}, {"name": "v2"}]})
    assert "subresources" not in spec
    assert spec["versions"] == [{"name": "v1", "subresources": {"status": {}}}, {"name": "v2"}]


@pytest.mark.parametrize(
    ("v1beta1", "v1"),
    [
        pytest.param({"strategy": "None"}, {"strategy": "None"}, id="none"),
        pytest.param(
            {"strategy": "Webhook", "webhookClientConfig": {"url": "https://a"}},
            {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1beta1"]},
            },
            id="webhook with default review version",
        ),
        pytest.param(
            {"strategy": "Webhook", "conversionReviewVersions": ["v1"]},
            {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}},
            id="review versions alone",
        ),
    ],
)
def test_webhook_fields_move(v1beta1: Object, v1: Object) -> None:
    assert to_hub({"conversion": v1beta1})["conversion"] == v1


def test_unknown_fields_are_preserved_by_default_in_v1beta1_alone() -> None:
    assert to_hub({})["preserveUnknownFields"] is True
    assert "preserveUnknownFields" not in to_hub({"preserveUnknownFields": False})
    assert from_hub({})["preserveUnknownFields"] is False


SCHEMAS = st.sampled_from([{"openAPIV3Schema": {"type": "object"}}, {"openAPIV3Schema": {}}])
COLUMNS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("ab"), "jsonPath": st.just(".spec.x")}), min_size=1, max_size=2
)
VERSIONS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["v1", "v1beta1"]), "served": st.booleans(), "storage": st.booleans()},
        optional={
            "schema": SCHEMAS,
            "subresources": st.sampled_from([{"status": {}}, {}]),
            "additionalPrinterColumns": COLUMNS,
            "selectableFields": st.just([{"jsonPath": ".spec.a"}]),
        },
    ),
    min_size=1,
    max_size=3,
)
CONVERSIONS = st.sampled_from(
    [
        {"strategy": "None"},
        {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}},
    ]
)
SPECS = st.fixed_dictionaries(
    {"group": st.just("g"), "scope": st.sampled_from(["Namespaced", "Cluster"]), "versions": VERSIONS},
    optional={"conversion": CONVERSIONS, "preserveUnknownFields": st.just(True)},
)


@given(SPECS)
def test_a_v1_definition_survives_v1beta1(spec: Object) -> None:
    assert to_hub(from_hub(spec)) == spec
