"""Bindings, which assign a pod to a node once."""

import pytest

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.registry.kinds.core.binding import apply_binding, check_binding_name, validate_binding
from tests.registry.kinds.core.objects import Mutation, created, pod, put

NOW = "2026-02-02T00:00:00Z"


def binding(**metadata: object) -> Object:
    return {"metadata": {"name": "web-0", **metadata}, "target": {"kind": "Node", "name": "n1"}}


def test_a_binding_assigns_the_node() -> None:
    obj = created("pods", pod())
    apply_binding(obj, binding(annotations={"a": "b"}, labels={"zone": "z"}), NOW)
    assert obj["spec"]["nodeName"] == "n1"
    assert obj["metadata"]["annotations"] == {"a": "b"}
    assert obj["metadata"]["labels"] == {"zone": "z"}
    condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": NOW}
    assert obj["status"]["conditions"] == [condition]


@pytest.mark.parametrize(
    ("change", "metadata", "message"),
    [
        (
            put("spec.nodeName", "n0"),
            {},
            'Operation cannot be fulfilled on pods/binding "web-0": pod web-0 is already assigned to node "n0"',
        ),
        (
            put("metadata.deletionTimestamp", NOW),
            {},
            'Operation cannot be fulfilled on pods/binding "web-0": '
            "pod web-0 is being deleted, cannot be assigned to a host",
        ),
        (
            put("spec.schedulingGates", [{"name": "wait"}]),
            {},
            'Operation cannot be fulfilled on pods/binding "web-0": pod web-0 has non-empty .spec.schedulingGates',
        ),
        (
            put("metadata.uid", "u1"),
            {"uid": "u2"},
            'Operation cannot be fulfilled on pods "web-0": '
            "Precondition failed: UID in precondition: u2, UID in object meta: u1",
        ),
    ],
    ids=["assigned", "deleted", "gated", "another pod"],
)
def test_a_binding_conflicts(change: Mutation, metadata: Object, message: str) -> None:
    obj = created("pods", pod())
    change(obj)
    with pytest.raises(StatusError) as caught:
        apply_binding(obj, binding(**metadata), NOW)
    assert (caught.value.code, caught.value.message) == (409, message)


def test_a_binding_of_another_name_is_a_bad_request() -> None:
    with pytest.raises(StatusError, match="name in URL does not match name in Binding object"):
        check_binding_name("other", binding())


def test_faults_of_a_binding_are_reported() -> None:
    assert [str(e) for e in validate_binding({"target": {"kind": "Pod"}})] == [
        'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
        "target.name: Required value",
    ]
