"""A Helm chart. Its templates have the objects of the manifests, and its values what people change."""

from typing import Final

from sampan.project.bundle.helm.chart import chart_files
from sampan.project.bundle.objects import OperatorObjects

_FOLDER: Final = "helm"


def helm(found: OperatorObjects) -> dict[str, str]:
    """Return the files of the chart, which is in a folder of its name."""
    return {f"{_FOLDER}/{found.settings.name}/{path}": text for path, text in chart_files(found).items()}
