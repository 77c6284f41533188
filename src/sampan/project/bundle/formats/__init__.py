"""Formats of `sampan bundle`. `FORMATS` has all of them.

A format is a function that gets the `OperatorObjects`, and returns texts by their path in the output folder. Only
`install.yaml` is directly in that folder, so that `kubectl apply -f dist/` finds nothing else; any other format has a
folder of its name. To add a format, add a line to `FORMATS`. The texts must follow from the objects alone: the same
project gives the same bytes. `written.py` compares, writes and removes files.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sampan.project.bundle.formats.gitops import gitops
from sampan.project.bundle.formats.helm import helm
from sampan.project.bundle.formats.kustomize import kustomize
from sampan.project.bundle.formats.manifests import manifests
from sampan.project.bundle.formats.monitoring import monitoring
from sampan.project.bundle.formats.olm import olm
from sampan.project.bundle.objects import OperatorObjects
from sampan.project.bundle.olm.bundle import olm_warnings

Format = Callable[[OperatorObjects], Mapping[str, str]]

FORMATS: Final[Mapping[str, Format]] = {
    "manifests": manifests,
    "kustomize": kustomize,
    "helm": helm,
    "olm": olm,
    "monitoring": monitoring,
    "gitops": gitops,
}
WARNINGS: Final[Mapping[str, Callable[[OperatorObjects], Sequence[str]]]] = {"olm": olm_warnings}
"""Warnings for the user of a format, as lines of text."""

__all__ = ["FORMATS", "WARNINGS", "Format"]
