"""NamespaceLifecycle: nothing is created in a namespace that is absent or going; some namespaces may not go.

Source: apiserver pkg/admission/plugin/namespace/lifecycle/admission.go (1.36).
"""

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.registry.strategy import ObjectReader
from sampan.server.admission.chain import Attributes

IMMORTAL_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACES = GroupResource("", "namespaces")
_ACCESS_REVIEWS = frozenset({"localsubjectaccessreviews"})


class NamespaceLifecycle:
    """A mutating plug-in, so that it speaks before anything else is done for the object."""

    operations = frozenset({"CREATE", "DELETE"})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader

    async def admit(self, attributes: Attributes) -> None:
        """Raises 404 (no such namespace) and 403 (terminating; immortal)."""
        if attributes.operation == "DELETE":
            if attributes.gvr.resource == "namespaces" and attributes.gvr.group == "":
                self._refuse_immortal(attributes.name)
            return
        namespace = attributes.namespace
        if not namespace or attributes.gvr.resource in _ACCESS_REVIEWS:
            return
        if attributes.gvr.resource == "namespaces" and attributes.gvr.group == "":
            return
        found = self._reader.get("", "namespaces", "", namespace)
        if found is None:
            raise errors.not_found(_NAMESPACES, namespace)
        if (found.get("status") or {}).get("phase") == "Terminating":
            raise _terminating(attributes, namespace)

    @staticmethod
    def _refuse_immortal(name: str) -> None:
        if name in IMMORTAL_NAMESPACES:
            raise errors.forbidden(_NAMESPACES, name, "this namespace may not be deleted")


def _terminating(attributes: Attributes, namespace: str) -> errors.StatusError:
    name = attributes.name
    text = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return errors.forbidden(attributes.gvr.group_resource, name, text, [cause])
