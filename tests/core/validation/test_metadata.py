"""Validate metadata."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.core.validation.metadata import (
    dedup_owner_references,
    finalizer_warnings,
    validate_annotations,
    validate_finalizers,
    validate_object_meta,
    validate_object_meta_update,
)
from sampan.core.validation.names import dns1123_subdomain_errors

GOOD: dict[str, Any] = {
    "name": "web",
    "namespace": "default",
    "resourceVersion": "5",
    "uid": "u",
    "creationTimestamp": "2020-01-01T00:00:00Z",
    "generation": 2,
    "labels": {"app.kubernetes.io/name": "web"},
    "annotations": {"Example.com/Any": "text of any kind\n"},
    "finalizers": ["example.com/clean"],
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1", "controller": True}],
    "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1"}],
}


def created(**changes: Any) -> list[str]:
    """Return the errors of a valid new object with these changes; None removes a field."""
    metadata = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    found = validate_object_meta(metadata, namespaced=True, name_rule=dns1123_subdomain_errors)
    return [str(error) for error in found]


def updated(**changes: Any) -> list[str]:
    """Return the errors of an update that changes these fields; None removes a field."""
    metadata = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return [str(error) for error in validate_object_meta_update(metadata, GOOD)]


def test_valid_metadata_has_no_errors() -> None:
    assert created() == []
    assert updated() == []


def test_cluster_scoped_objects_have_no_namespace() -> None:
    assert validate_object_meta({"name": "a"}, namespaced=False, name_rule=dns1123_subdomain_errors) == []
    found = validate_object_meta({"name": "a", "namespace": "b"}, namespaced=False, name_rule=dns1123_subdomain_errors)
    assert [str(error) for error in found] == ["metadata.namespace: Forbidden: not allowed on this type"]


OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({"name": None}, "metadata.name: Required value: name or generateName is required"),
        ({"name": "A"}, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'),
        ({"generateName": "Ab-"}, 'metadata.generateName: Invalid value: "Ab-": a lowercase RFC 1123 subdomain'),
        ({"namespace": None}, "metadata.namespace: Required value"),
        ({"namespace": "a.b"}, 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
        ({"generation": -1}, "metadata.generation: Invalid value: -1: must be greater than or equal to 0"),
        ({"labels": {"a b": ""}}, 'metadata.labels: Invalid value: "a b": name part must consist of'),
        ({"labels": {"a": "b c"}}, 'metadata.labels: Invalid value: "b c": a valid label must be'),
        ({"annotations": {"a b": ""}}, 'metadata.annotations: Invalid value: "a b": name part must consist of'),
        (
            {"annotations": {"a": "x" * 262144}},
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
        (
            {"annotations": {"a": "é" * 131072}},
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
        (
            {"ownerReferences": [{**OWNER, "apiVersion": "apps/"}]},
            'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
        ),
        (
            {"ownerReferences": [{**OWNER, "kind": ""}]},
            'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        ),
        (
            {"ownerReferences": [{**OWNER, "uid": ""}]},
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
        ),
        ({"finalizers": ["a b"]}, 'metadata.finalizers: Invalid value: "a b": name part must consist of'),
        (
            {"managedFields": [{"manager": "m", "operation": "Foo"}]},
            'metadata.managedFields[0].operation: Invalid value: "Foo": must be `Apply` or `Update`',
        ),
        (
            {"managedFields": [{"manager": "m", "operation": "Apply", "fieldsType": "X"}]},
            'metadata.managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`',
        ),
        (
            {"managedFields": [{"manager": "m" * 129, "operation": "Apply"}]},
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
        ),
        (
            {"managedFields": [{"manager": "m", "operation": "Apply", "subresource": "s" * 257}]},
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
        ),
    ],
)
def test_each_error_of_new_metadata_is_reported_once(changes: dict[str, Any], start: str) -> None:
    found = created(**changes)
    assert len(found) == 1
    assert found[0].startswith(start)


def test_annotations_of_exactly_the_limit_are_allowed() -> None:
    assert validate_annotations({"a": "x" * 262143}, Path("metadata", "annotations")) == []


def test_only_one_owner_may_be_the_controller() -> None:
    owners = [{**OWNER, "controller": True}, {**OWNER, "uid": "2", "name": "q", "controller": True}]
    (text,) = created(ownerReferences=owners)
    assert text.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q'
    )


def test_events_cannot_be_owners() -> None:
    (text,) = created(ownerReferences=[{**OWNER, "kind": "Event"}])
    assert text.endswith("/v1, Kind=Event is disallowed from being an owner")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "x"}, 'metadata.name: Invalid value: "x": field is immutable'),
        ({"namespace": "x"}, 'metadata.namespace: Invalid value: "x": field is immutable'),
        ({"uid": "x"}, 'metadata.uid: Invalid value: "x": field is immutable'),
        ({"creationTimestamp": None}, "metadata.creationTimestamp: Invalid value: null: field is immutable"),
        (
            {"deletionTimestamp": "2020-01-01T00:00:00Z"},
            'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
        ),
        (
            {"deletionGracePeriodSeconds": 5},
            "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable",
        ),
        ({"generation": 1}, "metadata.generation: Invalid value: 1: must not be decremented"),
        ({"resourceVersion": ""}, 'metadata.resourceVersion: Invalid value: "": must be specified for an update'),
    ],
)
def test_updates_cannot_change_identity(changes: dict[str, Any], text: str) -> None:
    assert updated(**changes) == [text]


def test_updates_may_change_labels_annotations_and_generation() -> None:
    assert updated(labels={"a": "b"}, annotations=None, generation=3, finalizers=[]) == []


def test_objects_being_deleted_reject_new_finalizers() -> None:
    old = {**GOOD, "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a"]}
    found = validate_object_meta_update({**old, "finalizers": ["a", "c", "b"]}, old)
    assert [str(error) for error in found] == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"b", "c"}'
    ]
    assert validate_object_meta_update({**old, "finalizers": []}, old) == []


def test_orphan_and_foreground_finalizers_exclude_each_other() -> None:
    (error,) = validate_finalizers(["orphan", "foregroundDeletion"], Path("metadata", "finalizers"))
    assert error.detail == "finalizer orphan and foregroundDeletion cannot be both set"


@pytest.mark.parametrize(
    ("finalizers", "warnings"),
    [
        (None, []),
        (["orphan", "foregroundDeletion", "kubernetes", "example.com/x"], []),
        (
            ["x"],
            [
                'metadata.finalizers: "x": prefer a domain-qualified finalizer name '
                "to avoid accidental conflicts with other finalizer writers"
            ],
        ),
        (
            ["x.io"],
            [
                'metadata.finalizers: "x.io": prefer a domain-qualified finalizer name including a path (/) '
                "to avoid accidental conflicts with other finalizer writers"
            ],
        ),
    ],
)
def test_finalizer_warnings(finalizers: list[str] | None, warnings: list[str]) -> None:
    assert finalizer_warnings(finalizers) == warnings


@pytest.mark.parametrize("after", [False, True])
def test_exact_duplicates_of_owners_are_removed_with_a_warning(after: bool) -> None:
    other = {**OWNER, "name": "other"}
    metadata = {"ownerReferences": [OWNER, other, dict(OWNER)]}
    text = dedup_owner_references(metadata, after_mutating_admission=after)
    assert metadata["ownerReferences"] == [OWNER, other]
    when = " after mutating admission happens" if after else ""
    assert text == (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and "
        "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: 1"
    )


@pytest.mark.parametrize(
    "metadata", [{}, {"ownerReferences": [OWNER]}, {"ownerReferences": [OWNER, {**OWNER, "uid": "2"}]}]
)
def test_owners_without_duplicates_are_kept(metadata: dict[str, Any]) -> None:
    before = dict(metadata)
    assert dedup_owner_references(metadata) is None
    assert metadata == before
