"""The scale subresource: `autoscaling/v1 Scale` as a view of an object's replicas.

Source: kubernetes pkg/registry/apps/deployment/storage (ScaleREST), apiextensions registry/customresource ScaleREST
(1.36).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

from sampan.core import errors
from sampan.core.field import FieldError, Path, invalid
from sampan.core.gvk import GroupKind, GroupResource, GroupVersionKind
from sampan.core.object import Object
from sampan.core.selectors import selector_from_label_selector, selector_from_labels
from sampan.core.time import timestamp
from sampan.patch import json_patch, merge_patch
from sampan.patch.media_types import APPLY_PATCH, JSON_PATCH
from sampan.registry.definition import ScalePaths
from sampan.registry.rest.metadata import match_name
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.runner import run
from sampan.registry.write.write import Change, Write, WriteKind
from sampan.server.media import media_of, written
from sampan.server.request import Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.patch import patch_type_of
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import admit_part, validate_part
from sampan.server.verbs.write.body import decoded_as, decoded_kind, read_value
from sampan.server.verbs.write.write import RequestGate, write_of
from sampan.wire import json as wire_json
from sampan.wire.table import scale_table

_SCALE_KIND = GroupVersionKind("autoscaling", "v1", "Scale")
_SCALE = _SCALE_KIND.group_kind
_UNSET: Final = -(1 << 31)
"""Replicas in the Scale of a custom resource without the field, as plug-ins and patches get it."""


async def get_scale(scope: RequestScope) -> Response:
    """Return 200 with the Scale of an object. Raises 500 for a custom resource without replicas."""
    endpoint = scope.endpoint
    record = await endpoint.store.record(scope.ctx.namespace, scope.request.info.name)
    obj = endpoint.object_of(await endpoint.store.present(record.value))
    path = _paths(scope).spec_replicas
    if endpoint.dialect.scale_requires_replicas and _take(obj, path) is None:
        raise errors.internal_error(f'the spec replicas field ".{path}" does not exist')
    return _response(scope, scale_of(scope, obj))


async def update_scale(scope: RequestScope) -> Response:
    """Handle PUT of a Scale."""
    options = write_options(scope.request, "UpdateOptions")
    value = await decoded_kind(scope, _SCALE_KIND, options)
    match_name(scope.request.info.name, value["metadata"])
    return await _write(scope, options, lambda _current: value)


async def patch_scale(scope: RequestScope) -> Response:
    """Handle PATCH of a Scale: JSON, apply, or merge. A strategic merge equals a merge: a Scale has no lists."""
    content_type = patch_type_of(scope.request, scope.endpoint)
    options = write_options(scope.request, "PatchOptions", content_type)
    scope.request.headers["content-type"] = "application/yaml" if content_type == APPLY_PATCH else "application/json"
    value, _ = await read_value(scope.request, duplicates=False)
    if content_type == JSON_PATCH:
        return await _write(scope, options, lambda current: _patched(current, value))
    if not isinstance(value, dict):
        raise errors.bad_request("error decoding patch: the patch is not an object")
    applied = value if content_type == APPLY_PATCH else None
    return await _write(scope, options, lambda current: merge_patch.apply(current, value), applied)


async def _write(
    scope: RequestScope, options: WriteOptions, edit: Callable[[Object], Object], applied: Object | None = None
) -> Response:
    kind = WriteKind.UPDATE if applied is None else WriteKind.APPLY
    scaling = Scaling(scope, options, edit, applied)
    write = write_of(scope, kind, scaling, options, gate=ScaleGate(scope, scaling))
    await run(write)
    stored = await write.store.present(write.result)
    return _response(scope, scale_of(scope, scope.endpoint.object_of(stored)))


class Scaling(Change):
    """Stored object with the replicas of a Scale. Admission plug-ins get the Scale, not the object."""

    __slots__ = ("_applied", "_edit", "_options", "_scope", "old_scale", "scale")
    name: ClassVar[str] = "scale"

    def __init__(
        self, scope: RequestScope, options: WriteOptions, edit: Callable[[Object], Object], applied: Object | None
    ) -> None:
        """Take `edit`, which returns the desired Scale for the current one, and `applied`, the body of a server-side
        apply.
        """
        self._scope, self._options, self._edit, self._applied = scope, options, edit, applied
        self.old_scale: Object = {}
        self.scale: Object = {}
        """Requested Scale after admission."""

    async def make(self, write: Write) -> Object:
        """Admit the desired Scale, and scale a copy of the object. Raises 409, 422."""
        scope, name = self._scope, write.name
        endpoint = scope.endpoint
        obj = endpoint.from_hub(write.copy_of_old())
        path = _paths(scope).spec_replicas
        self.old_scale = scale_of(scope, obj)
        if endpoint.dialect.scale_requires_replicas and _take(obj, path) is None:
            self.old_scale["spec"] = {"replicas": _UNSET}
        desired = decoded_as(scope, _SCALE_KIND, self._edit(self.old_scale))
        match_name(name, desired["metadata"])
        given = _replicas(desired)
        scale = self.scale = await self._admitted(desired)
        if _replicas(scale) == _UNSET:
            raise errors.bad_request(f'the spec replicas field ".{path}" cannot be empty')
        faults = _faults(scale) if endpoint.dialect.validates_scale else []
        if faults:
            raise errors.invalid(_SCALE, name, faults)
        if self._applied is None:
            _put(obj, path, _replicas(scale))
        else:
            obj = await endpoint.managing_fields(partial(self._merged, obj, self._applied, timestamp(write.clock)))
            if _replicas(scale) != given:  # admission has changed the replicas; the applier still owns the field
                _put(obj, path, _replicas(scale))
        _check_uid(scope, scale, obj)
        version = (scale.get("metadata") or {}).get("resourceVersion")
        if version:
            obj["metadata"]["resourceVersion"] = version
        elif not write.store.strategy.allow_unconditional_update:
            obj["metadata"]["resourceVersion"] = write.present["metadata"]["resourceVersion"]
        else:
            obj["metadata"].pop("resourceVersion", None)
        if endpoint.dialect.scale_requires_replicas:
            endpoint.compiled.prune(obj)  # the schema may lack the field of the replicas
        return obj

    async def _admitted(self, scale: Object) -> Object:
        if not isinstance(scale.get("metadata"), dict):
            scale = {**scale, "metadata": {}}
        scale = {**scale, "kind": _SCALE_KIND.kind, "apiVersion": _SCALE_KIND.api_version}
        return await admit_part(self._scope, _SCALE_KIND, scale, self.old_scale, self._options.dry_run)

    def _merged(self, obj: Object, scale: Object, now: str) -> Object:
        """Apply the replicas to the stored object, as a server-side apply through the subresource scale. Raises 409."""
        scope, options = self._scope, self._options
        endpoint = scope.endpoint
        if scale.get("kind") != "Scale" or scale.get("apiVersion") != "autoscaling/v1":
            given = f"{scale.get('apiVersion')}, Kind={scale.get('kind')}"
            raise errors.bad_request(f"invalid object type: {given}")
        config: Object = {
            "apiVersion": endpoint.api_version,
            "kind": endpoint.definition.kind,
            "metadata": {"name": scope.request.info.name},
        }
        replicas = (scale.get("spec") or {}).get("replicas")
        if replicas is not None:
            _put(config, _paths(scope).spec_replicas, replicas)
        return endpoint.field_manager("scale").apply(
            obj,
            config,
            manager=options.field_manager,
            api_version=endpoint.api_version,
            subresource="scale",
            force=bool(options.force),
            now=now,
        )


class ScaleGate(RequestGate):
    """Gate with validating admission of the Scale. The change has already run mutating admission."""

    __slots__ = ("_scaling",)

    def __init__(self, scope: RequestScope, scaling: Scaling) -> None:
        super().__init__(scope)
        self._scaling = scaling

    def mutate(self, write: Write) -> None:
        """Do nothing: the object itself is not admitted."""

    async def validate(self, write: Write) -> None:
        """Run validating admission of the Scale."""
        scaling = self._scaling
        await validate_part(self._scope, _SCALE_KIND, scaling.scale, scaling.old_scale, write.dry_run)


def _patched(current: Object, patch: Any) -> Object:
    """Return the Scale after a JSON patch. Raises 422 if the patch replaces it with something else."""
    patched = json_patch.apply(current, patch)
    if not isinstance(patched, dict):
        shown = wire_json.encode(patched).decode()
        fault = invalid(Path("patch"), shown, "the patched value is not an object")
        raise errors.invalid(GroupKind("", ""), "", [fault])
    return patched


def _replicas(scale: Object) -> Any:
    return (scale.get("spec") or {}).get("replicas", 0)


def _check_uid(scope: RequestScope, scale: Object, obj: Object) -> None:
    given, stored = (scale.get("metadata") or {}).get("uid"), obj["metadata"].get("uid")
    if given and given != stored:
        definition = scope.endpoint.definition
        resource = GroupResource(definition.group, f"{definition.resource}/scale")
        text = f"Precondition failed: UID in precondition: {given}, UID in object meta: {stored}"
        raise errors.conflict(resource, obj["metadata"]["name"], text)


def _faults(scale: Object) -> list[FieldError]:
    """Return the faults of a Scale. Source: kubernetes pkg/apis/autoscaling/validation ValidateScale (1.36)."""
    replicas = _replicas(scale)
    if replicas < 0:
        return [invalid(Path("spec", "replicas"), replicas, "must be greater than or equal to 0")]
    return []


def scale_of(scope: RequestScope, obj: Object) -> Object:
    """Return the Scale of an object of the endpoint's version."""
    paths = _paths(scope)
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: dict[str, Any] = {"replicas": _take(obj, paths.status_replicas) or 0}
    selector = _take(obj, paths.label_selector) if paths.label_selector else None
    text = _selector_text(selector)
    if text:
        status["selector"] = text
    replicas = _take(obj, paths.spec_replicas)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector_text(selector: Any) -> str:
    if isinstance(selector, str):
        return selector
    if not isinstance(selector, dict):
        return ""
    if selector.keys() <= {"matchLabels", "matchExpressions"}:
        return str(selector_from_label_selector(selector))
    return str(selector_from_labels(selector))


def _paths(scope: RequestScope) -> ScalePaths:
    paths = scope.endpoint.version.scale
    assert paths is not None
    return paths


def _take(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def _put(obj: Object, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        obj = obj.setdefault(name, {})
    obj[last] = value


def _response(scope: RequestScope, scale: Object) -> Response:
    media = media_of(scope.request)
    if media is None:
        return Response(200, wire_json.encode(scale))
    if media.transform == "Table":
        return written(media, scale_table(scale))
    return written(media, wire_json.encode(scale))
