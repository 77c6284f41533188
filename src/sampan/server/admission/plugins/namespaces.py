"""NamespaceExists and NamespaceAutoProvision: writes to a namespace that does not exist.

Source: kubernetes plugin/pkg/admission/namespace/{exists,autoprovision}/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core.errors import Reason, StatusError, forbidden, not_found
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.reader import CacheReader
from sampan.registry.strategy import Context
from sampan.registry.write.own import create
from sampan.server.admission.chain import Attributes

_NAMESPACES: Final = GroupResource("", "namespaces")


class NamespaceExists:
    """Refuses writes to a namespace that does not exist."""

    name: ClassVar[str] = "NamespaceExists"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    def __init__(self, reader: CacheReader) -> None:
        self._reader = reader

    async def validate(self, attributes: Attributes) -> None:
        """Check the namespace. **Raises** 404."""
        if not await _is_absent(self._reader, attributes):
            return
        raise not_found(_NAMESPACES, attributes.namespace)


class NamespaceAutoProvision:
    """Creates the missing namespace of a write."""

    name: ClassVar[str] = "NamespaceAutoProvision"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def admit(self, attributes: Attributes) -> None:
        """Create the namespace if it is missing. **Raises** 403 with the error of the creation."""
        if attributes.dry_run or not await _is_absent(self._cluster.reader, attributes):
            return
        endpoint = self._cluster.endpoint("", "v1", "namespaces")
        assert endpoint is not None
        name = attributes.namespace
        namespace: Object = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}}
        endpoint.store.strategy.default(namespace)
        try:
            await create(endpoint.store, Context(name=name), namespace, self._cluster.clock)
        except StatusError as error:
            if error.reason is not Reason.ALREADY_EXISTS:
                raise forbidden(attributes.gvr.group_resource, attributes.name, error.message) from None


async def _is_absent(reader: CacheReader, attributes: Attributes) -> bool:
    name = attributes.namespace
    if not name or (attributes.gvr.group, attributes.gvr.resource) == ("", "namespaces"):
        return False
    if reader.record("", "namespaces", "", name) is not None:
        return False
    await reader.fresh("", "namespaces")
    return reader.record("", "namespaces", "", name) is None
