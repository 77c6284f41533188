"""Which class an object gets that names none: the one that is marked as the default.

Source: component-helpers storage/volume/pv_helpers.go, kubernetes pkg/volume/util/storageclass.go,
plugin/pkg/admission/network/defaultingressclass/admission.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from sampan.core.object import Object

STORAGE_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""Names the class of a claim or a volume, before its spec does."""
DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
DEFAULT_INGRESS: Final = ("ingressclass.kubernetes.io/is-default-class",)


def newest_default(classes: Iterable[Object], marks: tuple[str, ...]) -> str | None:
    """The class that one of the annotations marks: of several the newest, of those of one second the first by name."""
    marked = [each for each in classes if any(_annotations(each).get(mark) == "true" for mark in marks)]
    marked.sort(key=lambda each: str(each["metadata"]["name"]))
    newest = max(marked, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["metadata"]["name"])


def _annotations(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}
