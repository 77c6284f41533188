"""Settings with which Argo CD and Flux know the health of the operator's kinds."""

from typing import Final

from sampan.project.bundle.formats.text import HEADER
from sampan.project.bundle.health import argo_settings, flux_checks, kinds_with_conditions
from sampan.project.bundle.objects import OperatorObjects
from sampan.wire import yaml

_FOLDER: Final = "gitops"


def gitops(found: OperatorObjects) -> dict[str, str]:
    """Return the files: patches for the ConfigMap of Argo CD, and for a Kustomization of Flux. None without kinds."""
    kinds = list(kinds_with_conditions(found.of_kind("CustomResourceDefinition")))
    if not kinds:
        return {}
    return {
        f"{_FOLDER}/argocd-cm-patch.yaml": HEADER + yaml.encode({"data": argo_settings(kinds)}).decode(),
        f"{_FOLDER}/flux-kustomization-patch.yaml": HEADER
        + yaml.encode({"spec": {"healthCheckExprs": flux_checks(kinds)}}).decode(),
    }
