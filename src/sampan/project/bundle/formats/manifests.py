"""Plain manifests: one file for `kubectl apply`."""

from typing import Final

from sampan.project.bundle.formats.text import yaml_text
from sampan.project.bundle.objects import OperatorObjects

FILE: Final = "install.yaml"


def manifests(found: OperatorObjects) -> dict[str, str]:
    """Return the file."""
    return {FILE: yaml_text(found.objects)}
