"""A reader of objects that a test puts there itself, in the place of a cluster's."""

from collections.abc import Iterable
from typing import Any, cast

from sampan.registry.follower import Apply, Follower
from sampan.registry.reader import CacheReader
from sampan.storage.encoding import encode, extractor, splice
from sampan.storage.records import CacheEvent, Page, Record
from sampan.storage.store import KeyValue

RBAC = "rbac.authorization.k8s.io"


class FakeCache:
    """Fake watch cache for a `Follower`. It has no history, so each change causes a full list."""

    def __init__(self, prefix: str, fields: Any = None) -> None:
        self.prefix = prefix
        self.changed = 0
        self.records: dict[str, Record] = {}
        self._extract = extractor(fields)

    def poll_events(self) -> None:
        """Nothing is ever pending."""

    def events_after(self, revision: int) -> list[CacheEvent] | None:
        """It remembers nothing."""
        return None

    def list(self, prefix: str) -> Page:
        """All of them, in key order."""
        records = [self.records[key] for key in sorted(self.records)]
        return Page(records, False, 0, self.changed)

    def put(self, obj: dict[str, Any]) -> None:
        """Make or replace an object."""
        self.changed += 1
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "")
        key = f"{self.prefix}{namespace}/{metadata['name']}" if namespace else f"{self.prefix}{metadata['name']}"
        value = splice(encode(obj), self.changed)
        self.records[key] = self._extract(KeyValue(key, value, self.changed, self.changed))

    def remove(self, namespace: str, name: str) -> None:
        """Take an object away."""
        self.changed += 1
        del self.records[f"{self.prefix}{namespace}/{name}" if namespace else f"{self.prefix}{name}"]


class FakeReader:
    """Gives each resource a `FakeCache`."""

    def __init__(self) -> None:
        self.caches: dict[str, FakeCache] = {}

    def cache(self, resource: str) -> FakeCache:
        """The cache of a resource."""
        if resource not in self.caches:
            self.caches[resource] = FakeCache(f"/registry/{resource}/", _node_name if resource == "pods" else None)
        return self.caches[resource]

    def put(self, resource: str, *objects: dict[str, Any]) -> None:
        """Make or replace objects."""
        for obj in objects:
            self.cache(resource).put(obj)

    def follow(self, group: str, resource: str, apply: Apply) -> Follower:
        """As `CacheReader.follow`."""
        return Follower(cast(Any, self.cache(resource)), apply)

    def as_reader(self) -> CacheReader:
        """Return the reader as a `CacheReader`."""
        return cast(CacheReader, self)


def role(name: str, *rules: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    """A Role, or without a namespace a ClusterRole."""
    return _named("Role" if namespace else "ClusterRole", name, namespace) | {"rules": list(rules)}


def binding(
    name: str, ref: str, *subjects: dict[str, Any], namespace: str = "", kind: str = "ClusterRole"
) -> dict[str, Any]:
    """A RoleBinding, or without a namespace a ClusterRoleBinding."""
    head = _named("RoleBinding" if namespace else "ClusterRoleBinding", name, namespace)
    return head | {"subjects": list(subjects), "roleRef": {"apiGroup": RBAC, "kind": kind, "name": ref}}


def user(name: str) -> dict[str, Any]:
    """A subject."""
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def group(name: str) -> dict[str, Any]:
    """A subject."""
    return {"kind": "Group", "apiGroup": RBAC, "name": name}


def account(name: str, namespace: str = "") -> dict[str, Any]:
    """A subject; without a namespace it is the binding's."""
    sent = {"kind": "ServiceAccount", "name": name}
    return sent | {"namespace": namespace} if namespace else sent


def rule(verbs: str, groups: str, resources: str, names: Iterable[str] = ()) -> dict[str, Any]:
    """A rule about resources; words with blanks between them, `core` for the group without a name."""
    sent = {
        "verbs": verbs.split(),
        "apiGroups": ["" if each == "core" else each for each in groups.split()],
        "resources": resources.split(),
    }
    return sent | {"resourceNames": list(names)} if names else sent


def paths(verbs: str, urls: str) -> dict[str, Any]:
    """A rule about paths."""
    return {"verbs": verbs.split(), "nonResourceURLs": urls.split()}


def _named(kind: str, name: str, namespace: str) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"kind": kind, "apiVersion": f"{RBAC}/v1", "metadata": metadata}


def _node_name(pod: dict[str, Any]) -> dict[str, str]:
    return {"spec.nodeName": pod["spec"].get("nodeName", "")}
