"""`NodeGraph`: the objects that a node needs, through its Pods and their volumes.

Concurrency: it has no tasks. Each call of `related` first applies all acknowledged writes from the watch caches.
Nothing is read before the first request of a node.
Source: kubernetes plugin/pkg/auth/authorizer/node/{graph,graph_populator}.go (1.36).
"""

from typing import Final, NamedTuple

from sampan.registry.reader import CacheReader
from sampan.server.authorization.node.references import Referent, node_of_directory, pod_references, volume_secrets
from sampan.storage.encoding import decode
from sampan.storage.records import Record

_MUTABLE_REFERENCES: Final = (b'"ephemeralContainers"', b'"resourceClaimStatuses"', b'"extendedResourceClaimStatus"')
"""Fields of a Pod whose references may change after the Pod is bound."""


class _Relation(NamedTuple):
    """Relation of an object to a node."""

    uid: str
    node: str
    referents: frozenset[Referent]


class _Volume(NamedTuple):
    """Bound PersistentVolume."""

    claim: Referent
    secrets: frozenset[Referent]
    node: str
    """Node that has the volume as a directory; empty for any other volume."""


class NodeGraph:
    """Relations between nodes and objects. A query takes a few lookups, independent of the number of Pods."""

    def __init__(self, reader: CacheReader) -> None:
        self._relations: dict[str, _Relation] = {}
        self._nodes: dict[Referent, dict[str, int]] = {}
        self._volumes: dict[str, _Volume] = {}
        self._secret_volumes: dict[Referent, set[str]] = {}
        self._followers = (
            reader.follow("", "pods", self._apply_pod),
            reader.follow("", "persistentvolumes", self._apply_volume),
            reader.follow("storage.k8s.io", "volumeattachments", self._apply_attachment),
            reader.follow("resource.k8s.io", "resourceslices", self._apply_slice),
        )

    def related(self, node: str, referent: Referent) -> bool:
        """Return True if a Pod or volume of the node refers to the object."""
        for follower in self._followers:
            follower.poll()
        if referent.resource == "persistentvolumes":
            return self._has_volume(node, referent.name)
        if node in self._nodes.get(referent, ()):
            return True
        return any(self._has_volume(node, name) for name in self._secret_volumes.get(referent, ()))

    def _has_volume(self, node: str, name: str) -> bool:
        volume = self._volumes.get(name)
        return volume is not None and (node in self._nodes.get(volume.claim, ()) or node == volume.node)

    def _apply_pod(self, key: str, record: Record | None) -> None:
        node = "" if record is None else record.fields.get("spec.nodeName", "")
        if record is None or not node:
            self._relate(key, None)
            return
        before = self._relations.get(key)
        bound_before = before is not None and (before.node, before.uid) == (node, record.uid)
        if bound_before and not any(mark in record.value for mark in _MUTABLE_REFERENCES):
            return
        referents = pod_references(decode(record.value))
        referents.add(Referent("pods", record.namespace, record.name))
        self._relate(key, _Relation(record.uid, node, frozenset(referents)))

    def _apply_attachment(self, key: str, record: Record | None) -> None:
        self._apply_named(key, record, "volumeattachments")

    def _apply_slice(self, key: str, record: Record | None) -> None:
        self._apply_named(key, record, "resourceslices")

    def _apply_named(self, key: str, record: Record | None, resource: str) -> None:
        """Apply a change of an object that names its node in spec.nodeName."""
        node = "" if record is None else (decode(record.value).get("spec") or {}).get("nodeName") or ""
        if record is None or not node:
            self._relate(key, None)
        else:
            self._relate(key, _Relation(record.uid, node, frozenset({Referent(resource, "", record.name)})))

    def _relate(self, key: str, relation: _Relation | None) -> None:
        before = self._relations.pop(key, None)
        if before is not None:
            for referent in before.referents:
                self._count(referent, before.node, -1)
        if relation is not None:
            self._relations[key] = relation
            for referent in relation.referents:
                self._count(referent, relation.node, 1)

    def _count(self, referent: Referent, node: str, change: int) -> None:
        counts = self._nodes.setdefault(referent, {})
        counts[node] = counts.get(node, 0) + change
        if not counts[node]:
            del counts[node]
            if not counts:
                del self._nodes[referent]

    def _apply_volume(self, key: str, record: Record | None) -> None:
        name = key.rpartition("/")[2]
        before = self._volumes.pop(name, None)
        for secret in before.secrets if before is not None else ():
            self._secret_volumes[secret].discard(name)
            if not self._secret_volumes[secret]:
                del self._secret_volumes[secret]
        volume = None if record is None else decode(record.value)
        claim = None if volume is None else (volume.get("spec") or {}).get("claimRef")
        if volume is None or not claim:
            return
        secrets = frozenset(volume_secrets(volume))
        referent = Referent("persistentvolumeclaims", claim.get("namespace") or "", claim.get("name") or "")
        self._volumes[name] = _Volume(referent, secrets, node_of_directory(volume))
        for secret in secrets:
            self._secret_volumes.setdefault(secret, set()).add(name)
