"""Health checks for Argo CD and Flux."""

from pathlib import Path
from typing import Any

from hypothesis import given

from sampan.project.bundle.formats.gitops import gitops
from sampan.project.bundle.health import CURRENT_CEL, FAILED_CEL, kinds_with_conditions
from sampan.project.bundle.objects import operator_objects
from sampan.project.bundle.settings import bundle_settings
from sampan.project.pyproject import project_at
from sampan.schema.cel.cost.budget import Budget
from sampan.schema.cel.environment import Environment
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import DYN
from sampan.wire import yaml
from tests.project.bundle.health import GENERATION, health_of, objects

ENVIRONMENT = Environment({"metadata": DYN, "status": DYN})
FLUX = {"Healthy": "current", "Degraded": "failed", "Progressing": "in progress"}


def holds(expression: str, obj: dict[str, Any]) -> bool:
    """Evaluate an expression as Flux does: an error is false."""
    try:
        return ENVIRONMENT.compile(expression).evaluate(obj, Budget(1_000_000)) is True
    except CelRuntimeError:
        return False


def flux(obj: dict[str, Any]) -> str:
    """Return the health of an object in the order of RFC 0009."""
    if obj.get("status", {}).get("observedGeneration", GENERATION) != GENERATION:
        return "in progress"
    if holds(FAILED_CEL, obj):
        return "failed"
    return "current" if holds(CURRENT_CEL, obj) else "in progress"


@given(obj=objects)
def test_flux_sees_the_health_of_an_object(obj: dict[str, Any]) -> None:
    assert flux(obj) == FLUX[health_of(obj)]


def test_both_files_name_each_version_with_conditions(harbour: Path) -> None:
    files = gitops(operator_objects(bundle_settings(project_at(harbour))))
    argo = yaml.decode(files["gitops/argocd-cm-patch.yaml"].encode())
    assert list(argo["data"]) == ["resource.customizations.health.boats.example.com_Boat"]
    checks = yaml.decode(files["gitops/flux-kustomization-patch.yaml"].encode())["spec"]["healthCheckExprs"]
    assert [(each["apiVersion"], each["kind"]) for each in checks] == [
        ("boats.example.com/v1", "Boat"),
        ("boats.example.com/v2", "Boat"),
    ]


def test_a_kind_without_conditions_has_no_check() -> None:
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": {"properties": {"status": {}}}}}
    crd = {"spec": {"group": "a.b", "names": {"kind": "A"}, "versions": [version]}}
    assert list(kinds_with_conditions([crd])) == []
