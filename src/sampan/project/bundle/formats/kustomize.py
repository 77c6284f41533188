"""A base for kustomize: a file for each kind of object. `kubectl kustomize` of it returns the plain manifests.

The ServiceMonitor of Prometheus' operator is a component, unless the settings have it in the base already.
"""

from typing import Any, Final

from sampan.project.bundle.formats.text import yaml_text
from sampan.project.bundle.objects import OperatorObjects
from sampan.project.bundle.workload import service_monitor
from sampan.resource import Object

_FOLDER: Final = "kustomize"
_COMPONENT: Final = f"{_FOLDER}/components/service-monitor"


def kustomize(found: OperatorObjects) -> dict[str, str]:
    """Return the files of the base and of its component."""
    kinds: dict[str, list[Object]] = {}
    for obj in found.objects:
        kinds.setdefault(obj["kind"].lower(), []).append(obj)
    files = {f"{_FOLDER}/{kind}.yaml": yaml_text(objects) for kind, objects in kinds.items()}
    base = _kustomization("kustomize.config.k8s.io/v1beta1", "Kustomization", [f"{kind}.yaml" for kind in kinds])
    files[f"{_FOLDER}/kustomization.yaml"] = yaml_text([base])
    if not found.settings.service_monitor:
        component = _kustomization("kustomize.config.k8s.io/v1alpha1", "Component", ["servicemonitor.yaml"])
        files[f"{_COMPONENT}/kustomization.yaml"] = yaml_text([component])
        files[f"{_COMPONENT}/servicemonitor.yaml"] = yaml_text([service_monitor(found.settings)])
    return files


def _kustomization(api_version: str, kind: str, resources: list[str]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "resources": resources}
