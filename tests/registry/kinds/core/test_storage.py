"""Rules of PersistentVolumes and claims, and of their updates."""

from typing import Any

import pytest

from sampan.core.object import Object
from tests.registry.kinds.core.objects import (
    CONTEXT,
    Mutation,
    claim,
    created,
    drop,
    faults,
    put,
    status_faults,
    strategy,
    update_faults,
    volume,
)

ACCESS = '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
SIZE = "spec.resources.requests.storage"
FIXED = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims\n"
)


TABLE: list[tuple[str, str, Object, list[str]]] = [
    ("volume", "persistentvolumes", volume(), []),
    ("no access modes", "persistentvolumes", volume(accessModes=[]), ["spec.accessModes: Required value"]),
    (
        "access mode",
        "persistentvolumes",
        volume(accessModes=["Any"]),
        [f'spec.accessModes: Unsupported value: "Any": supported values: {ACCESS}'],
    ),
    (
        "exclusive mode",
        "persistentvolumes",
        volume(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
        ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
    ),
    (
        "no capacity",
        "persistentvolumes",
        volume(capacity={}),
        [
            "spec.capacity: Required value",
            'spec.capacity: Unsupported value: null: supported values: "storage"',
        ],
    ),
    (
        "nothing",
        "persistentvolumes",
        volume(capacity={"storage": "0"}),
        ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ),
    (
        "two types",
        "persistentvolumes",
        volume(nfs={"server": "a", "path": "/"}),
        ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
    ),
    (
        "recycled root",
        "persistentvolumes",
        volume(hostPath={"path": "/"}, persistentVolumeReclaimPolicy="Recycle"),
        ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ),
    (
        "recycled root with two slashes",
        "persistentvolumes",
        volume(hostPath={"path": "//"}, persistentVolumeReclaimPolicy="Recycle"),
        ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ),
    (
        "host path that leads up",
        "persistentvolumes",
        volume(hostPath={"path": "/a/../../etc"}),
        ["spec.hostPath.path: Invalid value: \"/a/../../etc\": must not contain '..'"],
    ),
    (
        "driver",
        "persistentvolumes",
        volume(csi={"driver": "", "volumeHandle": ""}, hostPath=None),
        ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"],
    ),
    ("claim", "persistentvolumeclaims", claim(), []),
    (
        "claim without modes",
        "persistentvolumeclaims",
        claim(accessModes=[]),
        ["spec.accessModes: Required value: at least 1 access mode is required"],
    ),
    (
        "claim without size",
        "persistentvolumeclaims",
        claim(resources={}),
        ["spec.resources[storage]: Required value"],
    ),
    (
        "claim of nothing",
        "persistentvolumeclaims",
        claim(resources={"requests": {"storage": "0"}}),
        ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ),
    (
        "volume mode",
        "persistentvolumeclaims",
        claim(volumeMode="Tape"),
        ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
    ),
    (
        "data source",
        "persistentvolumeclaims",
        claim(dataSourceRef={"kind": "Pod", "name": "a"}),
        [
            'spec.dataSource: Invalid value: "Pod": '
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            'spec.dataSourceRef: Invalid value: "Pod": '
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        ],
    ),
]


def without_nulls(obj: Object) -> Object:
    return {**obj, "spec": {name: value for name, value in obj["spec"].items() if value is not None}}


@pytest.mark.parametrize(("resource", "obj", "texts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_faults_of_a_new_object_are_reported(resource: str, obj: Object, texts: list[str]) -> None:
    assert faults(resource, without_nulls(obj)) == texts


def test_a_claim_gets_its_defaults() -> None:
    obj = created("persistentvolumeclaims", claim())
    assert obj["spec"]["volumeMode"] == "Filesystem"
    assert obj["status"] == {"phase": "Pending"}


def test_a_volume_gets_its_defaults() -> None:
    obj = created("persistentvolumes", volume())
    assert obj["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert obj["spec"]["hostPath"] == {"path": "/data", "type": ""}
    assert obj["status"]["phase"] == "Pending"
    assert obj["status"]["lastPhaseTransitionTime"].endswith("Z")


def test_both_data_sources_are_equal() -> None:
    obj = created("persistentvolumeclaims", claim(dataSource={"kind": "PersistentVolumeClaim", "name": "a"}))
    assert obj["spec"]["dataSourceRef"] == {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "a"}


def test_faults_of_a_volume_are_reported_twice_on_update() -> None:
    text = (
        'spec.accessModes: Unsupported value: "a": supported values: "ReadOnlyMany", "ReadWriteMany", '
        '"ReadWriteOnce", "ReadWriteOncePod"'
    )
    assert update_faults("persistentvolumes", volume(), put("spec.accessModes", ["a"])) == [text, text]


def test_a_data_source_of_a_disabled_feature_is_dropped() -> None:
    obj = created("persistentvolumeclaims", claim(dataSource={"kind": "Pod", "name": "a"}))
    assert "dataSource" not in obj["spec"]


def bound(phase: str = "Bound", capacity: str = "1Gi") -> Mutation:
    def mutate(obj: Object) -> None:
        obj["status"] = {"phase": phase, "capacity": {"storage": capacity}}

    return mutate


def claim_update(change: Mutation, *, phase: str) -> list[str]:
    """Return the faults of an update of a stored claim in a phase."""
    old = created("persistentvolumeclaims", claim(volumeName="v", storageClassName="fast"))
    bound(phase)(old)
    obj = created("persistentvolumeclaims", claim(volumeName="v", storageClassName="fast"))
    bound(phase)(obj)
    change(obj)
    return [str(e) for e in strategy("persistentvolumeclaims").validate_update(CONTEXT, obj, old)]


@pytest.mark.parametrize(
    ("change", "phase", "first"),
    [
        (put(SIZE, "2Gi"), "Bound", ""),
        (put(SIZE, "2Gi"), "Pending", FIXED),
        (put("spec.accessModes", ["ReadOnlyMany"]), "Bound", FIXED),
        (drop("spec.volumeName"), "Bound", FIXED),
        (put("spec.volumeAttributesClassName", "gold"), "Bound", ""),
        (put("spec.volumeAttributesClassName", "gold"), "Pending", FIXED),
    ],
    ids=["grow", "grow unbound", "modes", "volume", "class", "class unbound"],
)
def test_mutable_fields_of_a_claim(change: Mutation, phase: str, first: str) -> None:
    texts = claim_update(change, phase=phase)
    assert [text for text in texts if not text.startswith(FIXED)] == []
    assert bool(texts) == bool(first)


def test_a_claim_never_shrinks_below_its_capacity() -> None:
    assert claim_update(put(SIZE, "512Mi"), phase="Bound") == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


@pytest.mark.parametrize(
    ("change", "prefix"),
    [
        (put("spec.hostPath.path", "/other"), "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is"),
        (put("spec.volumeMode", "Block"), 'volumeMode: Invalid value: "Block": field is immutable'),
    ],
    ids=["source", "mode"],
)
def test_immutable_fields_of_a_volume(change: Mutation, prefix: str) -> None:
    (text,) = update_faults("persistentvolumes", volume(), change)
    assert text.startswith(prefix)


def affinity(key: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": ["a"]}]}]
    return {"required": {"nodeSelectorTerms": terms}}


@pytest.mark.parametrize(
    ("key", "count"), [("topology.kubernetes.io/zone", 0), ("other", 1)], ids=["beta to GA", "other"]
)
def test_node_affinity_of_a_volume_is_fixed_but_for_names(key: str, count: int) -> None:
    old = volume(nodeAffinity=affinity("failure-domain.beta.kubernetes.io/zone"))
    texts = update_faults("persistentvolumes", old, put("spec.nodeAffinity", affinity(key)))
    assert len(texts) == count


@pytest.mark.parametrize(
    ("status", "texts"),
    [
        (
            {"capacity": {"storage": "-1"}},
            ["status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"],
        ),
        (
            {"allocatedResourceStatuses": {"cpu": "NodeResizePending"}},
            ['status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"'],
        ),
    ],
    ids=["capacity", "resize"],
)
def test_faults_of_a_new_status_are_reported(status: dict[str, Any], texts: list[str]) -> None:
    obj = claim()
    obj["metadata"]["resourceVersion"] = "1"
    assert status_faults("persistentvolumeclaims", obj, put("status", status)) == texts
