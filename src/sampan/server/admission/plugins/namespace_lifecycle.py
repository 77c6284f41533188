"""NamespaceLifecycle: refuses creations in missing or terminating namespaces, updates in missing ones, and deletions of
system namespaces.

Source: apiserver pkg/admission/plugin/namespace/lifecycle/admission.go (1.36).
"""

from typing import ClassVar

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.refusal import refusal
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.records import Record

IMMORTAL_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACES = GroupResource("", "namespaces")
_KNOWN_MAX = 10_000
_ACCESS_REVIEWS = frozenset({("authorization.k8s.io", "localsubjectaccessreviews")})


class NamespaceLifecycle:
    """Mutating plug-in, so that it runs before validating plug-ins."""

    name: ClassVar[str] = "NamespaceLifecycle"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    def __init__(self, reader: CacheReader) -> None:
        self._reader = reader
        self._cache: WatchCache = reader.cache("", "namespaces")
        self._present: set[str] = set()
        self._events_read = -1
        self._known: dict[str, tuple[int, bool]] = {}

    async def admit(self, attributes: Attributes) -> None:
        """Check the namespace. **Raises** 404 (missing) and 403 (terminating, or not deletable)."""
        if attributes.operation == "DELETE":
            if attributes.gvr.resource == "namespaces" and attributes.gvr.group == "":
                self._refuse_immortal(attributes.name)
            return
        namespace = attributes.namespace
        gvr = attributes.gvr
        if not namespace or (gvr.group, gvr.resource) in _ACCESS_REVIEWS:
            return
        if gvr.resource == "namespaces" and gvr.group == "":
            return
        updates = attributes.operation == "UPDATE"
        found = self._reader.record("", "namespaces", "", namespace)
        if found is None:
            await self._reader.fresh("", "namespaces")  # another server may have just created it
            found = self._reader.record("", "namespaces", "", namespace)
        if found is None:
            raise errors.not_found(_NAMESPACES, namespace)
        if updates:
            self._note(namespace)
        elif self._is_terminating(found):
            raise _terminating(attributes, namespace)

    def passes(self, operation: str, namespace: str) -> bool:
        """Return True for an update in a namespace that is known to exist: no check is needed."""
        if operation != "UPDATE":
            return False
        return namespace in self._present and self._cache.poll_events() == self._events_read

    def _note(self, name: str) -> None:
        """Record that a namespace exists, until any of them changes."""
        changed = self._cache.poll_events()
        if changed != self._events_read or len(self._present) >= _KNOWN_MAX:
            self._events_read, self._present = changed, set()
        if self._cache.get(self._cache.prefix + name) is not None:
            self._present.add(name)

    def _is_terminating(self, found: Record) -> bool:
        """Return True if the namespace is terminating. Cached by revision, because each create needs it."""
        known = self._known.get(found.name)
        if known is None or known[0] != found.revision:
            status = decode(found.value).get("status") or {}
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            known = self._known[found.name] = (found.revision, status.get("phase") == "Terminating")
        return known[1]

    @staticmethod
    def _refuse_immortal(name: str) -> None:
        if name in IMMORTAL_NAMESPACES:
            raise errors.forbidden(_NAMESPACES, name, "this namespace may not be deleted")


def _terminating(attributes: Attributes, namespace: str) -> errors.StatusError:
    text = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return refusal(attributes, text, causes=[cause])
