"""ControllerRevisions: the templates that a StatefulSet or DaemonSet had, numbered, to go back to.

A revision's data is a strategic merge patch that replaces the whole template; `kubectl rollout undo` sends it as it is.
Source: kube-controller-manager pkg/controller/history/controller_history.go (1.36).
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sampan.client import AlreadyExists, DeleteOptions, MergePatch, NotFound
from sampan.controllers.ownership import Owned
from sampan.core.label_selectors import Selector
from sampan.core.names import GENERATED_SUFFIX_ALPHABET
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CONTROLLER_REVISIONS
from sampan.operator.owner_references import set_controller_reference
from sampan.resource import Object, ResourceInfo, dynamic, meta
from sampan.wire import json

POD_HASH_LABEL: Final = "controller-revision-hash"
"""The label by which a Pod tells its revision: of a StatefulSet by name, of a DaemonSet by hash."""
_EXACT_INTEGER_MAX: Final = 1 << 53
"""A float64 holds every integer up to here."""
_PREFIX_LENGTH_MAX: Final = 223
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193


def data_of(template: Object) -> Object:
    """Return the data of a template's revision, in the order and with the numbers that Go gives it.

    Kubernetes' clients compare the bytes of the stored data. kube-controller-manager makes them of maps, whose keys Go
    sorts and whose numbers are float64.
    Source: kubernetes getPatch in pkg/controller/daemon/update.go, statefulset/stateful_set_utils.go (1.36).
    """
    data: Object = _as_go_map({"spec": {"template": {**template, "$patch": "replace"}}})
    return data


def _as_go_map(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_go_map(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_as_go_map(each) for each in value]
    if isinstance(value, int) and abs(value) > _EXACT_INTEGER_MAX:
        return int(float(value))
    return value


def template_of(revision: Object) -> Object:
    """The template that a revision says."""
    template = copy.copy(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template  # type: ignore[no-any-return]  # a revision is plain data


def says_same(revision: Object, data: Object) -> bool:
    """Whether a revision says the same. A time of creation that is null, as before 1.34, is as good as none."""
    return _canonical(revision.get("data") or {}) == _canonical(data)


def _canonical(data: Object) -> bytes:
    template = (data.get("spec") or {}).get("template") or {}
    metadata = template.get("metadata") or {}
    if "creationTimestamp" in metadata and metadata["creationTimestamp"] is None:
        metadata = {name: value for name, value in metadata.items() if name != "creationTimestamp"}
        data = {**data, "spec": {**data["spec"], "template": {**template, "metadata": metadata}}}
    return json.encode_sorted(data)


def revision_hash(data: Object, collisions: int) -> str:
    """A short text that differs for different data, as far as 32 bits go; `collisions` is counted up if not."""
    value = _FNV_OFFSET
    for byte in _go_json(data) + str(collisions).encode():
        value = ((value * _FNV_PRIME) & 0xFFFFFFFF) ^ byte
    return "".join(GENERATED_SUFFIX_ALPHABET[ord(digit) % len(GENERATED_SUFFIX_ALPHABET)] for digit in str(value))


def _go_json(data: Object) -> bytes:
    """JSON as Go writes it, so that the hashes are those of kube-controller-manager."""
    return json.escaped(json.encode_sorted(data))


def number_of(revision: Object) -> int:
    """Which revision it is; the newest has the highest."""
    return int(revision.get("revision") or 0)


def in_order(revisions: Iterable[Object]) -> list[Object]:
    """The oldest first."""
    return sorted(revisions, key=lambda each: (number_of(each), meta(each).creation_timestamp or "", meta(each).name))


def surplus(old: Sequence[Object], limit: int | None) -> Sequence[Object]:
    """Those of the old revisions (the oldest first) that a history of that length has no room for."""
    return old[: max(0, len(old) - limit)] if limit is not None and limit >= 0 else ()


class History:
    """The revisions of the owners of a kind. Lists see everything that was written through the manager's client."""

    def __init__(self, context: ControllerContext, owner: ResourceInfo, *, hash_label: str) -> None:
        """`hash_label`: the label in which a revision of that kind has its hash."""
        self._owned: Owned[Object] = Owned(context, dynamic(CONTROLLER_REVISIONS), owner)
        self._revisions = context.manager.client.resource(CONTROLLER_REVISIONS, namespace="")
        self._direct = context.manager.client.direct.resource(CONTROLLER_REVISIONS, namespace="")
        self._hash_label = hash_label

    async def claim(self, owner: Object, selector: Selector) -> list[Object]:
        """The revisions of an owner, the oldest first; orphans that fit are adopted.

        Raises `OwnerGone`, `ApiError`, `TransportError`.
        """
        return in_order(await self._owned.claim(owner, selector))

    async def create(self, owner: Object, data: Object, number: int, collisions: int) -> tuple[Object, int]:
        """Make the revision of some data; one of that name that says the same is taken for it.

        Gives the revision and how many collisions of names there have been by now. Raises `ApiError`,
        `TransportError`.
        """
        while True:
            made = _revision(owner, data, number, label=(self._hash_label, revision_hash(data, collisions)))
            namespace = meta(owner).namespace
            try:
                return await self._revisions.in_namespace(namespace).create(made), collisions
            except AlreadyExists:
                there = await self._direct.in_namespace(namespace).get(meta(made).name)
            if says_same(there, data):
                return there, collisions
            collisions += 1

    async def renumber(self, revision: Object, number: int) -> Object:
        """Give a revision a number. Raises `Conflict` when it is no longer as it was seen."""
        return await self._patch(revision, {"revision": number})

    async def label(self, revision: Object, labels: Mapping[str, str]) -> Object:
        """Give a revision labels. Raises `Conflict` when it is no longer as it was seen."""
        return await self._patch(revision, {"metadata": {"labels": labels}})

    async def delete(self, revisions: Iterable[Object]) -> None:
        """Forget revisions, each if it is the very one that was seen."""
        for revision in revisions:
            metadata = meta(revision)
            client = self._revisions.in_namespace(metadata.namespace)
            try:
                await client.delete(metadata.name, DeleteOptions(uid=metadata.uid))
            except NotFound:
                continue

    async def _patch(self, revision: Object, change: Object) -> Object:
        metadata = meta(revision)
        lock = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        patch = MergePatch({**change, "metadata": {**change.get("metadata", {}), **lock}})
        return await self._revisions.in_namespace(metadata.namespace).patch(metadata.name, patch)


def _revision(owner: Object, data: Object, number: int, *, label: tuple[str, str]) -> Object:
    name, hashed = label
    labels = data["spec"]["template"].get("metadata", {}).get("labels") or {}
    metadata: dict[str, Any] = {
        "name": f"{meta(owner).name[:_PREFIX_LENGTH_MAX]}-{hashed}",
        "namespace": meta(owner).namespace,
        "labels": {**labels, name: hashed},
        "annotations": dict(meta(owner).annotations),
    }
    made: Object = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata}
    made |= {"data": data, "revision": number}
    set_controller_reference(owner, made)
    return made
