"""ControllerRevisions: numbered copies of the templates of a StatefulSet or DaemonSet, for rollbacks.

A revision's data is a strategic merge patch that replaces the whole template. `kubectl rollout undo` sends it as is.

Source: kube-controller-manager pkg/controller/history/controller_history.go (1.36).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from sampan.client import AlreadyExists, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONTROLLER_REVISIONS
from sampan.controllers.workloads.ownership import Owned
from sampan.core.label_selectors import Selector
from sampan.core.validation.names import GENERATED_SUFFIX_ALPHABET
from sampan.kinds import apps_v1, core_v1, meta_v1
from sampan.operator.owners.references import set_controller_reference
from sampan.resource import Object, ResourceInfo, dynamic, meta
from sampan.wire import json

POD_HASH_LABEL: Final = "controller-revision-hash"
"""Label of a Pod with its revision: the revision's name for a StatefulSet, its hash for a DaemonSet."""
_EXACT_INTEGER_MAX: Final = 1 << 53
"""Up to this value, a float64 represents every integer exactly."""
_PREFIX_LENGTH_MAX: Final = 223
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193


def data_of(template: core_v1.PodTemplateSpec) -> Object:
    """Return the data of a template's revision, with the key order and the number format of Go.

    Kubernetes' clients compare the bytes of the stored data. kube-controller-manager encodes the data from Go maps:
    keys are sorted, and numbers are float64.
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


def template_of(revision: apps_v1.ControllerRevision) -> core_v1.PodTemplateSpec:
    """Return the template that a revision holds."""
    template: Object = copy.copy(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return cast("core_v1.PodTemplateSpec", template)


def has_data(revision: Mapping[str, Any], data: Object) -> bool:
    """Return True if a revision holds the data. A null `creationTimestamp`, as before 1.34, counts as absent."""
    return _canonical(revision.get("data") or {}) == _canonical(data)


def _canonical(data: Object) -> bytes:
    template = (data.get("spec") or {}).get("template") or {}
    metadata = template.get("metadata") or {}
    if "creationTimestamp" in metadata and metadata["creationTimestamp"] is None:
        metadata = {name: value for name, value in metadata.items() if name != "creationTimestamp"}
        data = {**data, "spec": {**data["spec"], "template": {**template, "metadata": metadata}}}
    return json.encode_sorted(data)


def revision_hash(data: Object, collisions: int) -> str:
    """Return a short hash of the data.

    The hash has 32 bits. The caller increments `collisions` to get another hash after a collision.
    """
    # FNV-1 (multiply, then xor), as in kube-controller-manager.
    value = _FNV_OFFSET
    for byte in _go_json(data) + str(collisions).encode():
        value = ((value * _FNV_PRIME) & 0xFFFFFFFF) ^ byte
    return "".join(GENERATED_SUFFIX_ALPHABET[ord(digit) % len(GENERATED_SUFFIX_ALPHABET)] for digit in str(value))


def _go_json(data: Object) -> bytes:
    """Encode to JSON exactly as Go does, so that hashes equal those of kube-controller-manager."""
    return json.escaped(json.encode_sorted(data))


def number_of(revision: apps_v1.ControllerRevision) -> int:
    """Return the number of a revision; the newest has the highest."""
    return int(revision.get("revision") or 0)


def in_order(revisions: Iterable[apps_v1.ControllerRevision]) -> list[apps_v1.ControllerRevision]:
    """Sort revisions from oldest to newest."""
    return sorted(revisions, key=lambda each: (number_of(each), meta(each).creation_timestamp or "", meta(each).name))


def surplus(old: Sequence[apps_v1.ControllerRevision], limit: int | None) -> Sequence[apps_v1.ControllerRevision]:
    """Return the oldest of the old revisions, which exceed the length of the history. `old` starts with the oldest."""
    return old[: max(0, len(old) - limit)] if limit is not None and limit >= 0 else ()


class RevisionHistory:
    """Revisions of the owners of one kind. Lists include every write made through the manager's client."""

    def __init__(self, context: ControllerContext, owner: ResourceInfo, *, hash_label: str) -> None:
        """Create the history; `hash_label` is the label that holds a revision's hash."""
        self._owned: Owned[apps_v1.ControllerRevision] = Owned(context, dynamic(CONTROLLER_REVISIONS), owner)
        self._revisions = context.manager.client.resource(CONTROLLER_REVISIONS, namespace="")
        self._direct = context.manager.client.direct.resource(CONTROLLER_REVISIONS, namespace="")
        self._hash_label = hash_label

    async def claim(self, owner: Mapping[str, Any], selector: Selector) -> list[apps_v1.ControllerRevision]:
        """Return the revisions of an owner from oldest to newest. Matching orphans are adopted.

        Raises `OwnerGone`, `ApiError`, `TransportError`.
        """
        return in_order(await self._owned.claim(owner, selector))

    async def create(
        self, owner: Mapping[str, Any], data: Object, number: int, collisions: int
    ) -> tuple[apps_v1.ControllerRevision, int]:
        """Create the revision of some data, or return the existing one with that name and the same data.

        Returns the revision and the new count of name collisions. Raises `ApiError`, `TransportError`.
        """
        while True:
            made = _revision(owner, data, number, label=(self._hash_label, revision_hash(data, collisions)))
            namespace = meta(owner).namespace
            try:
                return await self._revisions.in_namespace(namespace).create(made), collisions
            except AlreadyExists:
                existing = await self._direct.in_namespace(namespace).get(meta(made).name)
            if has_data(existing, data):
                return existing, collisions
            collisions += 1

    async def renumber(self, revision: apps_v1.ControllerRevision, number: int) -> apps_v1.ControllerRevision:
        """Set the number of a revision. Raises `Conflict` if it has changed since it was read."""
        return await self._patch(revision, {"revision": number})

    async def label(
        self, revision: apps_v1.ControllerRevision, labels: Mapping[str, str]
    ) -> apps_v1.ControllerRevision:
        """Add labels to a revision. Raises `Conflict` if it has changed since it was read."""
        return await self._patch(revision, {"metadata": {"labels": labels}})

    async def delete(self, revisions: Iterable[apps_v1.ControllerRevision]) -> None:
        """Delete revisions. A revision that was replaced by another of the same name stays."""
        for revision in revisions:
            metadata = meta(revision)
            client = self._revisions.in_namespace(metadata.namespace)
            try:
                await client.delete(metadata.name, DeleteOptions(uid=metadata.uid))
            except NotFound:
                continue

    async def _patch(self, revision: apps_v1.ControllerRevision, change: Object) -> apps_v1.ControllerRevision:
        metadata = meta(revision)
        lock = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        patch = MergePatch({**change, "metadata": {**(change.get("metadata") or {}), **lock}})
        return await self._revisions.in_namespace(metadata.namespace).patch(metadata.name, patch)


def _revision(
    owner: Mapping[str, Any], data: Object, number: int, *, label: tuple[str, str]
) -> apps_v1.ControllerRevision:
    name, hashed = label
    labels = (data["spec"]["template"].get("metadata") or {}).get("labels") or {}
    metadata: meta_v1.ObjectMeta = {
        "name": f"{meta(owner).name[:_PREFIX_LENGTH_MAX]}-{hashed}",
        "namespace": meta(owner).namespace,
        "labels": {**labels, name: hashed},
        "annotations": dict(meta(owner).annotations),
    }
    made: apps_v1.ControllerRevision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": data,
        "revision": number,
    }
    set_controller_reference(owner, made)
    return made
