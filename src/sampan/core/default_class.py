"""Select the default class for an object that names no class.

Source: component-helpers storage/volume/pv_helpers.go, kubernetes pkg/volume/util/storageclass.go,
plugin/pkg/admission/network/defaultingressclass/admission.go (1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

STORAGE_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""Annotation with the class of a claim or volume; takes precedence over its spec."""
DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
DEFAULT_INGRESS: Final = ("ingressclass.kubernetes.io/is-default-class",)


def newest_default(classes: Iterable[Mapping[str, Any]], marks: tuple[str, ...]) -> str | None:
    """Return the name of the newest class that one of the annotations marks as the default.

    If several were created in the same second, the first by name is selected.
    """
    marked = [each for each in classes if any(_annotations(each).get(mark) == "true" for mark in marks)]
    marked.sort(key=lambda each: str(each["metadata"]["name"]))
    newest = max(marked, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["metadata"]["name"])


def _annotations(obj: Mapping[str, Any]) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}
