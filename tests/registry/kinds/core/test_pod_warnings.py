"""Warnings for valid but probably unintended settings of pods."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.registry.kinds.pod_spec import spec as podspec
from tests.registry.kinds.core.objects import CONTEXT, container, created, pod, strategy

HIDES = 'hides previous definition of "A", which may be dropped when using apply'


@pytest.mark.parametrize(
    ("obj", "texts"),
    [
        (pod(), []),
        (
            pod(nodeSelector={"beta.kubernetes.io/os": "linux"}),
            ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
        ),
        (
            pod(terminationGracePeriodSeconds=-1),
            [],
        ),
        (
            pod(containers=[container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])]),
            [f"spec.containers[0].env[1]: {HIDES}"],
        ),
        (pod(containers=[container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A):2"}])]), []),
        (
            pod(containers=[container(ports=[{"containerPort": 80}, {"containerPort": 80, "hostPort": 8080}])]),
            ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
        ),
        (
            pod(containers=[container(resources={"requests": {"memory": "100m"}})]),
            [
                'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, '
                "must be an integer"
            ],
        ),
        (
            pod(imagePullSecrets=[{"name": "a"}, {"name": "a"}]),
            ['spec.imagePullSecrets[1].name: duplicate name "a"'],
        ),
        (
            pod(volumes=[{"name": "v", "gitRepo": {"repository": "r"}}]),
            ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
        ),
        (
            pod(
                volumes=[
                    {
                        "name": "v",
                        "configMap": {"name": "c", "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x/y"}]},
                    }
                ]
            ),
            ['volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x"'],
        ),
    ],
    ids=[
        "sound",
        "node label",
        "grace period",
        "hidden variable",
        "appended variable",
        "ports",
        "fraction",
        "secret twice",
        "git",
        "overlap",
    ],
)
def test_a_new_pod_draws_warnings(obj: Any, texts: list[str]) -> None:
    assert strategy("pods").warnings_on_create(CONTEXT, created("pods", obj)) == texts


def test_a_grace_period_below_zero_in_a_template_draws_a_warning() -> None:
    obj = created("podtemplates", {"metadata": {"name": "t"}, "template": pod(terminationGracePeriodSeconds=-1)})
    text = "must be >= 0; negative values are invalid and will be treated as 1"
    warnings = strategy("podtemplates").warnings_on_create(CONTEXT, obj)
    assert warnings == [f"template.spec.terminationGracePeriodSeconds: {text}"]


def test_a_pod_name_that_is_no_label_draws_a_warning() -> None:
    obj = created("pods", pod())
    obj["metadata"]["name"] = "a.b"
    assert strategy("pods").warnings_on_create(CONTEXT, obj) == [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    ]


def test_warnings_of_a_template_name_its_place() -> None:
    template: Any = {"spec": {"terminationGracePeriodSeconds": -1, "containers": [container()]}}
    (text,) = podspec.warnings(template, Path("spec", "template"))
    assert text.startswith("spec.template.spec.terminationGracePeriodSeconds: ")


def test_faults_of_a_template_name_its_place() -> None:
    template: Any = {"metadata": {"labels": {"a": "b c"}}, "spec": {"containers": [container(image="")]}}
    podspec.default_pod_template(template)
    fields = [error.field for error in podspec.validate_pod_template_spec(template, Path("spec", "template"))]
    assert fields == ["spec.template.labels", "spec.template.spec.containers[0].image"]


def test_faults_of_the_stored_template_are_tolerated() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]}
    constraint = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    template: Any = {"spec": {"containers": [container()], "topologySpreadConstraints": [constraint]}}
    podspec.default_pod_template(template)
    assert len(podspec.validate_pod_template_spec(template)) == 1
    assert podspec.validate_pod_template_spec(template, old_template=template) == []
