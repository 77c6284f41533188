"""Tests of the pure parts of the sidecars: names, access modes, parameters, Secrets and topology."""

from typing import Any

import pytest

from sampan.csi.capabilities import UnsupportedAccessMode, access_mode, volume_capability
from sampan.csi.names import attacher_finalizer, attachment_name
from sampan.csi.sidecar.provisioning.plan import driver_parameters, fs_type
from sampan.csi.sidecar.provisioning.topology import (
    TopologyOptions,
    TopologyUnknown,
    accessibility_requirements,
    node_affinity,
)
from sampan.csi.sidecar.secrets import InvalidClass, secret_reference

PREFIX = "csi.storage.k8s.io/"
CLAIM: Any = {"metadata": {"name": "c", "namespace": "ns", "annotations": {"team/key": "blue"}}}


def test_the_name_of_an_attachment_is_that_of_kubernetes() -> None:
    # The SHA-256 of "vol-1disk.example.comnode-a".
    digest = "06957212cb95986c44d4ad7358e845c337f828970b6197ad137f2a4a80c8ac8e"
    assert attachment_name("disk.example.com", "vol-1", "node-a") == f"csi-{digest}"


def test_a_finalizer_has_only_valid_characters() -> None:
    assert attacher_finalizer("disk.example.com") == "external-attacher/disk-example-com"
    assert attacher_finalizer("disk_") == "external-attacher/disk-X"


@pytest.mark.parametrize(
    ("modes", "several", "expected"),
    [
        (["ReadWriteOnce"], False, "SINGLE_NODE_WRITER"),
        (["ReadWriteOnce"], True, "SINGLE_NODE_MULTI_WRITER"),
        (["ReadWriteOncePod"], False, "SINGLE_NODE_WRITER"),
        (["ReadWriteOncePod"], True, "SINGLE_NODE_SINGLE_WRITER"),
        (["ReadOnlyMany"], True, "MULTI_NODE_READER_ONLY"),
        (["ReadWriteOnce", "ReadWriteMany"], True, "MULTI_NODE_MULTI_WRITER"),
    ],
)
def test_access_modes(modes: list[str], several: bool, expected: str) -> None:
    assert access_mode(modes, single_node_multi_writer=several) == expected


@pytest.mark.parametrize("modes", [["ReadOnlyMany", "ReadWriteOnce"], []], ids=["both", "none"])
def test_access_modes_without_equivalent_are_refused(modes: list[str]) -> None:
    with pytest.raises(UnsupportedAccessMode):
        access_mode(modes, single_node_multi_writer=False)


def test_a_block_volume_has_no_file_system() -> None:
    found = volume_capability({"volumeMode": "Block"}, ["ReadWriteOnce"], fs_type="ext4")
    assert found == {"block": {}, "access_mode": {"mode": "SINGLE_NODE_WRITER"}}


def test_the_driver_gets_only_its_own_parameters() -> None:
    assert driver_parameters({"tier": "x", f"{PREFIX}fstype": "xfs", f"{PREFIX}secret-name": "s"}) == {"tier": "x"}
    with pytest.raises(InvalidClass, match="unknown parameter key"):
        driver_parameters({f"{PREFIX}typo": "x"})


def test_the_file_system_is_named_once() -> None:
    assert fs_type({"fsType": "xfs"}, "ext4") == "xfs"
    assert fs_type({}, "ext4") == "ext4"
    with pytest.raises(InvalidClass):
        fs_type({"fsType": "xfs", f"{PREFIX}fstype": "ext4"}, "")


def keys(use: str, name: str, namespace: str) -> dict[str, str]:
    """Return the parameters for a Secret."""
    part = f"{use}-secret" if use else "secret"
    return {f"{PREFIX}{part}-name": name, f"{PREFIX}{part}-namespace": namespace}


def test_the_name_of_a_secret_is_made_from_templates() -> None:
    parameters = keys("node-stage", "${pvc.name}-${pvc.annotations['team/key']}", "${pvc.namespace}")
    found = secret_reference("node-stage", parameters, "pvc-1", CLAIM)
    assert found == {"name": "c-blue", "namespace": "ns"}
    assert secret_reference("node-publish", parameters, "pvc-1", CLAIM) is None


def test_a_secret_for_all_calls_is_the_default() -> None:
    parameters = keys("", "all", "ns") | keys("provisioner", "own", "ns")
    assert secret_reference("node-publish", parameters, "v", CLAIM) == {"name": "all", "namespace": "ns"}
    assert secret_reference("provisioner", parameters, "v", CLAIM) == {"name": "own", "namespace": "ns"}


@pytest.mark.parametrize(
    "parameters",
    [
        {f"{PREFIX}secret-name": "s"},
        keys("", "s", "${pvc.name}"),
        keys("", "s", "${pvc.annotations['team/key']}"),
        keys("", "s/../t", "ns"),
        keys("", "", "ns"),
        keys("provisioner", "s", "ns") | {"csiProvisionerSecretName": "t"},
    ],
    ids=["no namespace", "namespace of a user", "namespace of an annotation", "no name", "empty", "two names"],
)
def test_a_secret_that_is_not_the_administrators_choice_is_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(InvalidClass):
        secret_reference("provisioner", parameters, "v", CLAIM)


ZONE = "zone"
NODES = {"n1": {ZONE: "a"}, "n2": {ZONE: "b"}, "n3": {ZONE: "c"}, "bare": {}}
CSI_NODES: Any = [
    {"metadata": {"name": name}, "spec": {"drivers": [{"name": "d", "nodeID": name, "topologyKeys": [ZONE]}]}}
    for name in ("n1", "n2", "n3")
]


def requirements(claim: str = "c", selected: str = "", allowed: list[Any] | None = None, **options: bool) -> Any:
    """Return the zones of a requirement: all, and in the order of preference."""
    found = accessibility_requirements(
        "d", claim, allowed or [], selected, NODES, CSI_NODES, TopologyOptions(**options)
    )
    if found is None:
        return None
    return tuple("".join(each["segments"][ZONE] for each in found[part]) for part in ("requisite", "preferred"))


def test_the_selected_node_is_preferred() -> None:
    assert requirements(selected="n2") == ("abc", "bca")
    assert requirements(selected="n2", strict=True) == ("b", "b")


def test_allowed_topologies_limit_the_choice() -> None:
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["c", "b"]}]}]
    assert requirements(selected="n3", allowed=allowed) == ("bc", "cb")
    with pytest.raises(TopologyUnknown, match="not in requisite"):
        requirements(selected="n1", allowed=allowed)
    with pytest.raises(TopologyUnknown, match="not in allowed topologies"):
        requirements(selected="n1", allowed=allowed, strict=True)


def test_claims_of_a_stateful_set_are_spread() -> None:
    first = [requirements(f"data-web-{ordinal}")[1][0] for ordinal in range(3)]
    assert sorted(first) == ["a", "b", "c"]
    assert [requirements(f"logs-web-{ordinal}")[1][0] for ordinal in range(3)] == first


def test_an_immediate_volume_may_be_anywhere() -> None:
    assert requirements(immediate=False) is None


def test_a_node_without_the_driver_is_not_known() -> None:
    with pytest.raises(TopologyUnknown, match="no topology key found on CSINode bare"):
        requirements(selected="bare")


def test_the_affinity_of_a_volume_is_its_topology() -> None:
    assert node_affinity([]) is None
    assert node_affinity([{"zone": "a", "rack": "1"}]) == {
        "required": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "rack", "operator": "In", "values": ["1"]},
                        {"key": "zone", "operator": "In", "values": ["a"]},
                    ]
                }
            ]
        }
    }
