"""Rows of rule tables."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.registry.kinds.pod_spec.volume_sources import check_aws_disk, check_azure_disk, check_cinder
from sampan.registry.rules.fields import Errors
from sampan.registry.rules.table import Check, all_of, number, one_of, requires, within

ORDERED = one_of("kind", ("Shared", "Dedicated"))
RANGE = number("partition", 0, 255, "must be small")


def faults(check: Check, **source: Any) -> list[str]:
    errors: Errors = []
    check(source, Path("spec"), errors)
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("check", "source", "expected"),
    [
        (requires("a", "b"), {"a": "x", "b": ""}, ["spec.b: Required value"]),
        (RANGE, {}, []),
        (RANGE, {"partition": 0}, []),
        (RANGE, {"partition": 256}, ["spec.partition: Invalid value: 256: must be small"]),
        (ORDERED, {}, []),
        (ORDERED, {"kind": ""}, ['spec.kind: Unsupported value: "": supported values: "Shared", "Dedicated"']),
        (one_of("kind", {"b", "a"}), {"kind": "c"}, ['spec.kind: Unsupported value: "c": supported values: "a", "b"']),
        (within("ref", requires("name")), {}, []),
        (within("ref", requires("name")), {"ref": {}}, ["spec.ref.name: Required value"]),
        (all_of(requires("b"), requires("a")), {}, ["spec.b: Required value", "spec.a: Required value"]),
    ],
    ids=[
        "required", "absent number", "lowest number", "number out of range", "absent choice", "empty choice",
        "set in sorted order", "absent object", "field of an object", "order of rows",
    ],
)  # fmt: skip
def test_a_row_checks_its_field(check: Check, source: dict[str, Any], expected: list[str]) -> None:
    assert faults(check, **source) == expected


def test_volume_sources_have_the_messages_of_kubernetes() -> None:
    assert faults(check_aws_disk, partition=300) == [
        "spec.volumeID: Required value",
        "spec.partition: Invalid value: 300: must be between 1 and 255, inclusive",
    ]
    assert faults(check_cinder, volumeID="v", secretRef={}) == ["spec.secretRef.name: Required value"]
    assert faults(check_azure_disk, diskName="d", diskURI="https://a", cachingMode="x") == [
        'spec.cachingMode: Unsupported value: "x": supported values: "None", "ReadOnly", "ReadWrite"'
    ]
