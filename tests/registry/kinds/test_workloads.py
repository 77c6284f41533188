"""Deployments, replica sets, stateful sets, daemon sets, controller revisions."""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.strategy import Strategy
from tests.registry.kinds.cases import (
    CTX,
    DROP,
    Change,
    changed,
    check_idempotent,
    created,
    defaulted,
    faults,
    status_faults,
    strategy,
    update_faults,
)

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
WORKLOAD: Object = {
    "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}
DEPLOYMENTS = strategy("apps", "deployments")
REPLICA_SETS = strategy("apps", "replicasets")
STATEFUL_SETS = strategy("apps", "statefulsets")
DAEMON_SETS = strategy("apps", "daemonsets")
JOBS = strategy("batch", "jobs")
REVISIONS = strategy("apps", "controllerrevisions")
KINDS = {"deployment": DEPLOYMENTS, "statefulset": STATEFUL_SETS, "daemonset": DAEMON_SETS}
IMMUTABLE_SELECTOR = 'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable'
MISMATCH = 'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'


@pytest.mark.parametrize("each", [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS])
def test_a_plain_workload_is_valid(each: Strategy) -> None:
    assert faults(each, WORKLOAD) == []
    assert update_faults(each, WORKLOAD, {"spec/template/spec/containers/0/image": "other"}) == []


@pytest.mark.parametrize("each", [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS])
def test_defaults_are_idempotent(each: Strategy) -> None:
    check_idempotent(each.default, WORKLOAD)


@pytest.mark.parametrize(
    ("each", "spec"),
    [
        pytest.param(
            DEPLOYMENTS,
            {
                "replicas": 1,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
            id="deployment",
        ),
        pytest.param(REPLICA_SETS, {"replicas": 1}, id="replicaset"),
        pytest.param(
            DAEMON_SETS,
            {
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
                "revisionHistoryLimit": 10,
            },
            id="daemonset",
        ),
        pytest.param(
            STATEFUL_SETS,
            {
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
                "replicas": 1,
                "revisionHistoryLimit": 10,
            },
            id="statefulset",
        ),
    ],
)
def test_defaults(each: Strategy, spec: Object) -> None:
    found = defaulted(each, WORKLOAD)["spec"]
    assert {name: found[name] for name in spec} == spec
    assert found["template"]["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize("each", [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS])
def test_fields_of_disabled_features_are_dropped_from_the_template(each: Strategy) -> None:
    found = created(each, changed(WORKLOAD, {"spec/template/spec/schedulingGroup": {"podGroupName": "a"}}))
    assert "schedulingGroup" not in found["spec"]["template"]["spec"]


def test_max_unavailable_of_a_stateful_set_is_kept_only_where_it_is_stored() -> None:
    change = {"spec/updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}}
    old = created(STATEFUL_SETS, changed(WORKLOAD, change))
    assert old["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}
    stored = changed(old, change)
    new = changed(stored, {"spec/updateStrategy/rollingUpdate/maxUnavailable": 3})
    STATEFUL_SETS.prepare_for_update(CTX, new, stored)
    assert new["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == 3


def test_claim_templates_are_written_as_whole_objects() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    found = defaulted(STATEFUL_SETS, changed(WORKLOAD, {"spec/volumeClaimTemplates": [claim]}))
    claim = found["spec"]["volumeClaimTemplates"][0]
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert (claim["spec"]["volumeMode"], claim["status"]) == ("Filesystem", {"phase": "Pending"})


CASES: list[tuple[Strategy, Change, list[str]]] = [
    (DEPLOYMENTS, {"spec/replicas": -1}, ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]),
    (
        DEPLOYMENTS,
        {"spec/selector": DROP},
        [
            "spec.selector: Required value",
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ],
    ),
    (
        DEPLOYMENTS,
        {"spec/selector": {}},
        ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
    ),
    (DEPLOYMENTS, {"spec/selector/matchLabels/app": "other"}, [MISMATCH]),
    (
        DEPLOYMENTS,
        {"spec/template/metadata/labels": DROP},
        ["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
    ),
    (
        DEPLOYMENTS,
        {"spec/template/spec/restartPolicy": "Never"},
        ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ),
    (
        DEPLOYMENTS,
        {"spec/template/spec/activeDeadlineSeconds": 5},
        ["spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"],
    ),
    (
        DEPLOYMENTS,
        {"spec/strategy": {"type": "Recreate", "rollingUpdate": {}}},
        ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ),
    (
        DEPLOYMENTS,
        {"spec/strategy": {"type": "Other"}},
        ['spec.strategy: Unsupported value: {"type":"Other"}: supported values: "Recreate", "RollingUpdate"'],
    ),
    (
        DEPLOYMENTS,
        {"spec/strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}},
        [
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ],
    ),
    (
        DEPLOYMENTS,
        {"spec/strategy": {"rollingUpdate": {"maxUnavailable": "110%"}}},
        [
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "110%": must not be greater than 100%',
        ],
    ),
    (
        DEPLOYMENTS,
        {"spec/minReadySeconds": 600},
        ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
    ),
    (
        DAEMON_SETS,
        {"spec/updateStrategy": {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}},
        [
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: "
            "may not be set when maxUnavailable is non-zero"
        ],
    ),
    (
        DAEMON_SETS,
        {"spec/updateStrategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}}},
        ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
    ),
    (
        DAEMON_SETS,
        {"spec/selector": {}},
        ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
    ),
    (
        STATEFUL_SETS,
        {"spec/podManagementPolicy": "Other"},
        ["spec.podManagementPolicy: Invalid value: \"Other\": must be 'OrderedReady' or 'Parallel'"],
    ),
    (
        STATEFUL_SETS,
        {"spec/updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
        [
            'spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: '
            "only allowed for updateStrategy 'RollingUpdate'"
        ],
    ),
    (
        STATEFUL_SETS,
        {"spec/updateStrategy": {"rollingUpdate": {"partition": -1}}, "spec/x": 1},
        ["spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0"],
    ),
    (
        STATEFUL_SETS,
        {"spec/persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Keep"}},
        [
            'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": '
            'supported values: "Retain", "Delete"'
        ],
    ),
    (
        STATEFUL_SETS,
        {"spec/ordinals": {"start": -1}},
        ["spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"],
    ),
]


@pytest.mark.parametrize(("each", "change", "texts"), CASES, ids=[str(case[1]) for case in CASES])
def test_a_broken_rule_is_reported(each: Strategy, change: Change, texts: list[str]) -> None:
    assert faults(each, changed(WORKLOAD, change)) == texts


@pytest.mark.parametrize("each", [DEPLOYMENTS, REPLICA_SETS, DAEMON_SETS])
def test_the_selector_is_immutable(each: Strategy) -> None:
    change = {"spec/selector/matchLabels/app": "other", "spec/template/metadata/labels/app": "other"}
    assert update_faults(each, WORKLOAD, change) == [IMMUTABLE_SELECTOR]


def test_a_changed_selector_of_a_daemon_set_is_reported_first() -> None:
    faults = update_faults(DAEMON_SETS, WORKLOAD, {"spec/selector/matchLabels/app": "other"})
    assert faults[0] == IMMUTABLE_SELECTOR
    assert len(faults) == 2


def test_most_fields_of_a_stateful_set_are_immutable() -> None:
    assert update_faults(STATEFUL_SETS, WORKLOAD, {"spec/serviceName": "a"}) == [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden"
    ]
    assert update_faults(STATEFUL_SETS, WORKLOAD, {"spec/replicas": 5, "spec/minReadySeconds": 1}) == []


def test_mounts_may_name_a_claim_template() -> None:
    change = {
        "spec/volumeClaimTemplates": [
            {
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        ],
        "spec/template/spec/containers/0/volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    assert faults(STATEFUL_SETS, changed(WORKLOAD, change)) == []


def test_annotations_of_a_deployment_make_a_generation() -> None:
    old = defaulted(DEPLOYMENTS, WORKLOAD)
    assert DEPLOYMENTS.spec_changed(changed(old, {"metadata/annotations": {"a": "b"}}), old)
    assert not DEPLOYMENTS.spec_changed(changed(old, {"metadata/labels": {"a": "b"}}), old)


def test_the_status_of_a_deployment_does_not_bring_labels() -> None:
    old = changed(WORKLOAD, {"metadata/labels": {"a": "b"}})
    new = changed(old, {"metadata/labels": {"a": "c"}, "status": {"replicas": 1}})
    DEPLOYMENTS.keep_for_status_update(new, old)
    assert new["metadata"]["labels"] == {"a": "b"}


def test_templates_of_daemon_sets_are_counted_in_an_annotation() -> None:
    key = "deprecated.daemonset.template.generation"
    old = created(DAEMON_SETS, WORKLOAD)
    assert old["metadata"]["annotations"] == {key: "1"}
    new = changed(old, {"spec/template/spec/containers/0/image": "other", "metadata/annotations": {}})
    DAEMON_SETS.prepare_for_update(CTX, new, old)
    assert new["metadata"]["annotations"] == {key: "2"}


@pytest.mark.parametrize(
    ("each", "status", "old", "texts"),
    [
        pytest.param(DEPLOYMENTS, {"replicas": 2, "readyReplicas": 1, "availableReplicas": 1}, {}, [], id="fine"),
        pytest.param(
            DEPLOYMENTS,
            {"replicas": 1, "readyReplicas": 2},
            {},
            ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"],
            id="more ready than there are",
        ),
        pytest.param(
            DEPLOYMENTS,
            {"collisionCount": 1},
            {"collisionCount": 2},
            ["status.collisionCount: Invalid value: 1: cannot be decremented"],
            id="collisions only grow",
        ),
        pytest.param(
            STATEFUL_SETS,
            {"replicas": 2, "availableReplicas": 1},
            {},
            ["status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"],
            id="available before ready",
        ),
        pytest.param(
            DAEMON_SETS,
            {"numberReady": -1},
            {},
            ["status.numberReady: Invalid value: -1: must be greater than or equal to 0"],
            id="negative",
        ),
    ],
)
def test_counters_of_a_status_are_consistent(each: Strategy, status: Object, old: Object, texts: list[str]) -> None:
    assert status_faults(each, WORKLOAD, status, old) == texts


def test_names_that_are_poor_host_names_draw_a_warning() -> None:
    (warning,) = DEPLOYMENTS.warnings_on_create(CTX, created(DEPLOYMENTS, {**WORKLOAD, "metadata": {"name": "a.b"}}))
    assert warning == (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    )


def test_a_stateful_set_is_named_by_a_label() -> None:
    assert STATEFUL_SETS.name_errors("a.b", prefix=False) == ["must not contain dots"]


@pytest.mark.parametrize(
    ("revision", "texts"),
    [
        pytest.param({"data": {"a": 1}, "revision": 1}, [], id="fine"),
        pytest.param({}, ["data: Required value: data is mandatory"], id="no data"),
        pytest.param({"data": [1]}, ["data: Required value: data must be a valid JSON object"], id="a list"),
        pytest.param(
            {"data": {}, "revision": -1},
            ["revision: Invalid value: -1: must be greater than or equal to 0"],
            id="negative",
        ),
    ],
)
def test_controller_revisions(revision: Any, texts: list[str]) -> None:
    assert faults(REVISIONS, revision) == texts


def test_the_data_of_a_revision_is_immutable() -> None:
    assert update_faults(REVISIONS, {"data": {"a": 1}}, {"data/a": 2}) == [
        'data: Invalid value: {"a":2}: field is immutable'
    ]
