"""Strategies of subresources that are written like the object."""

import copy

import pytest

from sampan.core.object import Object
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from tests.registry.kinds.core.objects import CONTEXT, Mutation, container, created, pod, put

PARTS = {(kind.resource, name): part for kind in BUILTIN_KINDS for name, part in kind.subresources.items()}


def written(part: tuple[str, str], old: Object, change: Mutation) -> tuple[Object, list[str]]:
    """Write a subresource of a stored object. Return the result and its faults."""
    strategy = PARTS[part]
    obj = copy.deepcopy(old)
    change(obj)
    strategy.default(obj)
    strategy.prepare_for_update(CONTEXT, obj, old)
    return obj, [str(error) for error in strategy.validate_update(CONTEXT, obj, old)]


def test_a_new_ephemeral_container_gets_its_defaults() -> None:
    change = put("spec.ephemeralContainers", [container(name="debug")])
    obj, texts = written(("pods", "ephemeralcontainers"), created("pods", pod()), change)
    assert texts == []
    assert obj["spec"]["ephemeralContainers"][0]["imagePullPolicy"] == "IfNotPresent"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"ports": [{"containerPort": 80}]},
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        ),
        (
            {"targetContainerName": "absent"},
            'spec.ephemeralContainers[0].targetContainerName: Not found: "absent"',
        ),
    ],
    ids=["ports", "target"],
)
def test_some_fields_are_forbidden_in_ephemeral_containers(fields: Object, text: str) -> None:
    change = put("spec.ephemeralContainers", [container(name="debug", **fields)])
    assert written(("pods", "ephemeralcontainers"), created("pods", pod()), change)[1] == [text]


def test_a_resize_changes_no_other_field() -> None:
    resources = {"requests": {"cpu": "1"}}
    old = created("pods", pod(containers=[container(resources=resources)]))

    def change(obj: Object) -> None:
        put("spec.containers.0.resources.requests.cpu", "2")(obj)
        put("spec.containers.0.image", "other")(obj)
        put("metadata.labels", {"a": "b"})(obj)

    obj, texts = written(("pods", "resize"), old, change)
    assert texts == []
    assert obj["spec"]["containers"][0]["image"] == "nginx:1.25"
    assert obj["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "2"}}
    assert "labels" not in obj["metadata"]


@pytest.mark.parametrize(
    ("fields", "policy", "texts"),
    [
        pytest.param({}, "NotRequired", [], id="init container"),
        pytest.param({"restartPolicy": "Always"}, "RestartContainer", [], id="sidecar that restarts"),
        pytest.param(
            {},
            "RestartContainer",
            [
                "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of "
                "RestartContainer cannot be resized"
            ],
            id="init container that restarts",
        ),
    ],
)
def test_init_containers_are_resized(fields: Object, policy: str, texts: list[str]) -> None:
    resize = [{"resourceName": "cpu", "restartPolicy": policy}]
    first = container(name="first", resources={"requests": {"cpu": "1"}}, resizePolicy=resize, **fields)
    old = created("pods", pod(initContainers=[first], containers=[container(resources={"requests": {"cpu": "3"}})]))
    change = put("spec.initContainers.0.resources.requests.cpu", "2")
    assert written(("pods", "resize"), old, change)[1] == texts


def test_finalize_removes_the_finalizers() -> None:
    old = created("namespaces", {"metadata": {"name": "a"}})
    obj, texts = written(("namespaces", "finalize"), old, put("spec.finalizers", []))
    assert texts == []
    assert obj["spec"]["finalizers"] == []
    assert obj["status"] == old["status"]
