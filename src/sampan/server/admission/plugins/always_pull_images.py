"""AlwaysPullImages: Pods cannot use a private image only because another Pod has pulled it to the Node.

Source: kubernetes plugin/pkg/admission/alwayspullimages/admission.go (1.36).
"""

from collections.abc import Iterator
from typing import ClassVar, Final

from sampan.core.field import FieldError, Path, not_supported
from sampan.core.object import Object
from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY, containers, containers_with_paths
from sampan.server.admission.refusal import refusal

_ALWAYS: Final = "Always"


class AlwaysPullImages:
    """Sets the pull policy of all containers to Always, and refuses other policies set by later plug-ins."""

    name: ClassVar[str] = "AlwaysPullImages"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    async def admit(self, attributes: Attributes) -> None:
        """Set the pull policy. Never refuses."""
        if attributes.obj is None or _is_ignored(attributes):
            return
        spec = attributes.obj["spec"]
        for container in containers(spec):
            container["imagePullPolicy"] = _ALWAYS
        for volume in spec.get("volumes") or ():
            if volume.get("image") is not None:
                volume["image"]["pullPolicy"] = _ALWAYS

    async def validate(self, attributes: Attributes) -> None:
        """Check the pull policy. **Raises** 403."""
        if attributes.obj is None or _is_ignored(attributes):
            return
        texts = [refusal(attributes, str(fault)).message for fault in _faults(attributes.obj["spec"])]
        if texts:
            raise refusal(attributes, *texts)


def _faults(spec: Object) -> Iterator[FieldError]:
    for container, path in containers_with_paths(spec):
        if container.get("imagePullPolicy") != _ALWAYS:
            yield not_supported(path.child("imagePullPolicy"), container.get("imagePullPolicy", ""), (_ALWAYS,))
    for index, volume in enumerate(spec.get("volumes") or ()):
        image = volume.get("image")
        if image is not None and image.get("pullPolicy") != _ALWAYS:
            path = Path("spec", "volumes").index(index).child("image", "pullPolicy")
            yield not_supported(path, image.get("pullPolicy", ""), (_ALWAYS,))


def _is_ignored(attributes: Attributes) -> bool:
    """Return True for subresources, and for updates without a new image."""
    if attributes.subresource or attributes.obj is None:
        return True
    if attributes.old is None:
        return False
    before = {container.get("image") for container in containers(attributes.old["spec"])}
    return all(container.get("image") in before for container in containers(attributes.obj["spec"]))
