"""The report lists what two versions differ in, and what Sampan lacks of the newer one."""

from pathlib import Path

import pytest

pytest.importorskip("hatchling")

from scripts.kinds.feature_gates import Gate, read_gates
from scripts.kinds.report import report

from tests.kinds.excerpt import unpack

NEXT_MINOR = ('DefaultKubeBinaryVersion = "1.36"', 'DefaultKubeBinaryVersion = "1.37"')
NEW_FIELD = (
    '\tHostIP string `json:"hostIP,omitempty" protobuf:"bytes,5,opt,name=hostIP"`\n',
    '\tHostIP string `json:"hostIP,omitempty" protobuf:"bytes,5,opt,name=hostIP"`\n'
    "\t// +featureGate=GenericWorkload\n"
    '\tQuayMaster string `json:"quayMaster,omitempty" protobuf:"bytes,6,opt,name=quayMaster"`\n',
)


def lines_of(tmp_path: Path, *changes: tuple[str, str]) -> list[str]:
    return report(unpack(tmp_path / "old"), unpack(tmp_path / "new", NEXT_MINOR, *changes)).splitlines()


def test_equal_versions_have_no_change(tmp_path: Path) -> None:
    assert [line for line in lines_of(tmp_path) if line[:1] in ("+", "-", "~")] == []


def test_a_new_kind_without_a_module_is_lacking(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, ('"kind": "Lease", "name": "leases"', '"kind": "Pier", "name": "piers"'))
    assert "- coordination.k8s.io/v1 leases" in lines
    expected = "+ coordination.k8s.io/v1 piers (Pier)  LACKS: no module: only the rules that all kinds share"
    assert lines.count(expected) == 2, "once among the kinds, once in what Sampan lacks"


def test_a_new_field_is_listed_with_its_feature_gate(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        NEW_FIELD,
        ('"hostIP": {"type": "string"},', '"hostIP": {"type": "string"}, "quayMaster": {"type": "string"},'),
    )
    assert "+ core.v1.ContainerPort.quayMaster string [GenericWorkload: Alpha off]  LACKS: make kinds" in lines


def test_a_changed_default_is_lacking_until_the_files_are_made_again(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, ('"default": "TCP"', '"default": "SCTP"'))
    assert "~ core.v1.ContainerPort.protocol: TCP -> SCTP  LACKS: make kinds (packaged: TCP)" in lines


def test_a_changed_list_type_is_listed(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, ('"x-kubernetes-list-type": "set"', '"x-kubernetes-list-type": "atomic"'))
    (found,) = {line for line in lines if "ObjectMeta.finalizers" in line}
    assert "list=set patch=merge -> list=atomic patch=merge" in found


def test_a_field_that_became_required_is_listed(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, ('"required": ["key"]', '"required": ["key", "name"]'))
    assert "~ core.v1.ConfigMapKeySelector.name: required now" in lines


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("true, PreRelease: featuregate.Beta", "Alpha off -> Beta on  LACKS: the rules take it as False"),
        ("false, PreRelease: featuregate.Beta", "Alpha off -> Beta off"),
    ],
)
def test_a_feature_gate_is_compared_with_the_rules(tmp_path: Path, spec: str, expected: str) -> None:
    old = '{Version: version.MustParse("1.33"), Default: false, PreRelease: featuregate.Alpha},\n\t},\n\tGeneric'
    new = old.replace("},\n\t},", f'}},\n\t\t{{Version: version.MustParse("1.37"), Default: {spec}}},\n\t}},')
    assert f"~ ContainerStopSignals: {expected}" in lines_of(tmp_path, (old, new))


def test_a_feature_gate_has_the_state_of_the_sources_minor_version(tmp_path: Path) -> None:
    gates = read_gates(unpack(tmp_path))
    assert gates["RelaxedServiceNameValidation"] == Gate(default=True, stage="Beta", locked=False)
    assert gates["CustomResourceFieldSelectors"] == Gate(default=True, stage="GA", locked=True)
    older = read_gates(unpack(tmp_path, (NEXT_MINOR[0], 'DefaultKubeBinaryVersion = "1.35"')))
    assert not older["RelaxedServiceNameValidation"].default
