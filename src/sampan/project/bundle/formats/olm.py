"""A bundle for the Operator Lifecycle Manager, with its Dockerfile."""

from typing import Final

from sampan.project.bundle.objects import OperatorObjects
from sampan.project.bundle.olm.bundle import olm_files

_FOLDER: Final = "olm"


def olm(found: OperatorObjects) -> dict[str, str]:
    """Return the files."""
    return {f"{_FOLDER}/{path}": text for path, text in olm_files(found).items()}
