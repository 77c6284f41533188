"""Tests of the predicate for updates that change counts of Pods."""

from typing import Any

import pytest

from sampan.component_base.views import POD_VIEW
from sampan.controllers.workloads.pod_changes import CountChanged
from sampan.informer.ref import RefReader
from sampan.wire import json

READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "o", "controller": True}


def _ref(metadata: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> Any:
    return RefReader(POD_VIEW).read(
        json.encode(
            {"metadata": {"name": "p", "namespace": "n", "uid": "u", **metadata}, "spec": spec, "status": status}
        )
    )


@pytest.mark.parametrize(
    ("metadata", "spec", "status", "counts"),
    [
        ({}, {"nodeName": "x"}, {}, False),
        ({}, {}, {"phase": "Running", "podIP": "10.0.0.1"}, False),
        ({"annotations": {"x": "y"}}, {}, {}, False),
        ({}, {}, {"conditions": [READY]}, True),
        ({}, {}, {"phase": "Failed"}, True),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}, {}, True),
        ({"labels": {"x": "y"}}, {}, {}, True),
        ({"ownerReferences": [OWNER]}, {}, {}, True),
        ({"uid": "other"}, {}, {}, True),
    ],
    ids=["bound", "started", "annotated", "ready", "failed", "deleted", "labelled", "adopted", "recreated"],
)
def test_updates_that_change_a_count_pass(
    metadata: dict[str, Any], spec: dict[str, Any], status: dict[str, Any], counts: bool
) -> None:
    assert CountChanged("ReplicaSet").update(_ref({}, {}, {}), _ref(metadata, spec, status)) is counts


@pytest.mark.parametrize(("owner", "counts"), [("ReplicaSet", True), ("ReplicationController", False)])
def test_pods_with_another_kind_of_owner_do_not_count(owner: str, counts: bool) -> None:
    owned = {"ownerReferences": [OWNER]}
    assert CountChanged(owner).update(_ref(owned, {}, {}), _ref(owned, {}, {"conditions": [READY]})) is counts
