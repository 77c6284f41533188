"""Update: transform the stored object, check, write; again when somebody else was faster (see `guaranteed`).

Source: apiserver pkg/registry/rest/update.go, pkg/registry/generic/registry/store.go Update (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from sampan.core import errors
from sampan.core.field import FieldError, bounded
from sampan.core.gvk import GroupKind
from sampan.core.object import Object, set_or_drop
from sampan.core.offload import note_size, offloaded
from sampan.core.resource_version import parse_resource_version
from sampan.core.time import Clock
from sampan.patch.timestamps import keep_timestamps
from sampan.registry.rest.create import CreateOptions, create, unset_resource_version
from sampan.registry.rest.delete import after_delete
from sampan.registry.rest.guaranteed import Origin, guaranteed
from sampan.registry.rest.metadata import is_deleting, match_namespace, metadata_of
from sampan.registry.rest.metadata_faults import kinds_update_faults, update_faults
from sampan.registry.rest.size import stored_bytes
from sampan.registry.rest.store import ResourceStore, Validate
from sampan.registry.strategy import Context
from sampan.storage.encoding import decode, splice
from sampan.storage.store import KeyValue, OutcomeUnknown

_VALIDATED = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
)
"""Metadata that has rules and that a client may write; while none of it changes, what was valid stays valid."""

AuthorizeCreate = Callable[[], Awaitable[None]]
"""Authorizes an update to create the object it did not find. Raises `StatusError` 403."""

Transform = Callable[[Object | None, bytes], Awaitable[Object]]
"""Makes the wanted hub object out of the stored one (None and b"": absent), given decoded and as bytes.

Called again when the row was not the newest. The result must not share anything mutable with the object that was given.
"""


class Part(Enum):
    """Which part of the object a request may change."""

    MAIN = "main"
    STATUS = "status"
    ALL = "all"
    """Both at once: subresources with rules of their own (binding, finalize)."""


@dataclass(slots=True)
class UpdateOptions:
    """How to update. `uid`: must be the stored object's (precondition); `validate`: validating admission."""

    clock: Clock
    part: Part = Part.MAIN
    dry_run: bool = False
    authorize_create: AuthorizeCreate | None = None
    """None: an absent object is a 404, whatever its kind."""
    force_create: bool = False
    """Create an absent object although a PUT of this kind does not (server-side apply)."""
    is_apply: bool = False
    """Whether managedFields must be kept, also when the object does not fit with them."""
    uid: str = ""
    validate: Validate | None = None
    warnings: list[str] | None = None
    faults: Callable[[Object, Object], list[FieldError]] | None = None
    """Replaces the strategy's validation (subresources with rules of their own)."""


class Updated(NamedTuple):
    """The bytes in the storage version, and what happened."""

    value: bytes
    created: bool = False
    deleted: bool = False


async def update(
    store: ResourceStore, ctx: Context, name: str, transform: Transform, options: UpdateOptions
) -> Updated:
    """Change an object. Raises `StatusError`: 404, 409 (stale resourceVersion or uid), 422."""
    known = 0 if options.warnings is None else len(options.warnings)

    async def attempt(origin: Origin) -> Updated:
        if options.warnings is not None:
            del options.warnings[known:]
        if origin.row is None:
            updated = await _create_on_update(store, ctx, name, transform, options)
            origin.confirmed = origin.confirmed or not options.dry_run
            return updated
        return await _update_once(store, ctx, origin, transform, options)

    return await guaranteed(store, name, store.key(ctx.namespace, name), attempt)


async def _create_on_update(
    store: ResourceStore, ctx: Context, name: str, transform: Transform, options: UpdateOptions
) -> Updated:
    authorize = options.authorize_create
    creates = options.force_create or store.strategy.allow_create_on_update
    if authorize is None or options.part is not Part.MAIN or not creates:
        raise store.not_found(name)
    if options.uid:
        raise errors.conflict(
            store.definition.group_resource,
            name,
            _wrong_uid(store, ctx.namespace, name, options.uid, ""),
        )
    obj = await transform(None, b"")
    metadata = metadata_of(obj)
    if not _revision(metadata.get("resourceVersion", "")):
        metadata.pop("resourceVersion", None)

    async def validate(wanted: Object, old: Object | None) -> None:
        # Kubernetes authorizes here too: after mutating admission and validation, before validating admission.
        await authorize()
        if options.validate is not None:
            await options.validate(wanted, old)

    creation = CreateOptions(
        clock=options.clock,
        validate=validate,
        dry_run=options.dry_run,
        warnings=options.warnings,
        is_apply=options.is_apply,
    )
    value = await create(store, ctx, obj, creation)
    return Updated(value, created=True)


async def _update_once(
    store: ResourceStore, ctx: Context, origin: Origin, transform: Transform, options: UpdateOptions
) -> Updated:
    definition, strategy, row = store.definition, store.strategy, origin.present
    note_size(len(row.value) + strategy.size_of_work(len(row.value)))
    stored = await store.present(row.value)
    old = await offloaded(store.decode, stored)
    _check_uid(store, old, options.uid)
    obj = await transform(old, stored)
    metadata = metadata_of(obj)
    name = old["metadata"]["name"]
    _check_resource_version(store, metadata, row, name)
    match_namespace(definition, ctx.namespace, metadata)
    await offloaded(_keep, store, ctx, obj, old, options.part)
    release = None
    ctx.reader = store.reader
    if options.part is not Part.STATUS:
        release = await strategy.begin_update(ctx, obj, old, store.reader, store.allocators)
    written = False
    try:
        await offloaded(_check, store, ctx, obj, old, options)
        if options.validate is not None:
            await options.validate(obj, old)
        if _should_delete(store, obj, old):
            if not options.dry_run:
                await origin.delete()
                await after_delete(store, old, options.clock)
            return Updated(await _bytes_of(store, obj, row.mod_revision), deleted=True)
        if await offloaded(is_unchanged, obj, old) and not await _is_stored_otherwise(store, obj, row):
            written = True
            return Updated(stored)
        if options.dry_run:
            return Updated(await _bytes_of(store, obj, row.mod_revision))
        value = await offloaded(stored_bytes, store, await store.stored_form(obj), options.is_apply)
        deleting = "deletionTimestamp" in obj["metadata"]
        try:
            revision = await origin.update(value, ttl_s=strategy.ttl_s(obj), frees=deleting)
        except (asyncio.CancelledError, OutcomeUnknown):
            # Old or new, whichever is stored keeps what it holds.
            release = None
            raise
        written = True
        return Updated(splice(value, revision))
    finally:
        if release is not None:
            await release(written)


async def _bytes_of(store: ResourceStore, obj: Object, revision: int) -> bytes:
    return splice(await offloaded(store.encode, await store.stored_form(obj)), revision)


def _check_uid(store: ResourceStore, old: Object, uid: str) -> None:
    stored = old["metadata"].get("uid", "")
    if uid and uid != stored:
        raise errors.conflict(
            store.definition.group_resource,
            old["metadata"]["name"],
            _wrong_uid(store, old["metadata"].get("namespace", ""), old["metadata"]["name"], uid, stored),
        )


def _wrong_uid(store: ResourceStore, namespace: str, name: str, given: str, stored: str) -> str:
    """What an update is told whose uid is not that of the object: in the words of the storage, key included."""
    key = store.key(namespace, name).removeprefix("/registry")
    return (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {stored}"
    )


def _check_resource_version(store: ResourceStore, metadata: dict[str, Any], row: KeyValue, name: str) -> None:
    definition = store.definition
    given, present = metadata.get("resourceVersion", ""), str(row.mod_revision)
    if given == present:
        return
    revision = _revision(given)
    if not revision:
        if not definition.strategy.allow_unconditional_update:
            raise errors.invalid(GroupKind(definition.group, definition.resource), name, [unset_resource_version(name)])
    elif revision != row.mod_revision:
        raise errors.conflict(definition.group_resource, name, errors.OPTIMISTIC_LOCK_MESSAGE)
    metadata["resourceVersion"] = present


def _revision(text: str) -> int:
    """The number of an object's resourceVersion; 0: any. Raises 500, as Kubernetes does."""
    try:
        return parse_resource_version(text)
    except ValueError as error:
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, str(error)) from None


def _keep(store: ResourceStore, ctx: Context, obj: Object, old: Object, part: Part) -> None:
    """Put back what this request may not change, then let the strategy prepare."""
    strategy = store.strategy
    metadata, old_metadata = obj["metadata"], old["metadata"]
    _keep_generation(metadata, old_metadata)
    if part is Part.STATUS:
        strategy.keep_for_status_update(obj, old)
        strategy.prepare_for_status_update(ctx, obj, old)
    elif part is Part.MAIN:
        if strategy.keeps_status_on_update and any(v.status for v in store.definition.versions.values()):
            set_or_drop(obj, "status", old.get("status"))
        strategy.prepare_for_update(ctx, obj, old)
        if strategy.has_generation and strategy.spec_changed(obj, old):
            obj["metadata"]["generation"] = old_metadata.get("generation", 0) + 1
    metadata = obj["metadata"]
    if not metadata.get("uid"):
        set_or_drop(metadata, "uid", old_metadata.get("uid"))
    for name in ("creationTimestamp", "deletionTimestamp"):
        if old_metadata.get(name):
            metadata[name] = old_metadata[name]
    if "deletionGracePeriodSeconds" in old_metadata:
        metadata.setdefault("deletionGracePeriodSeconds", old_metadata["deletionGracePeriodSeconds"])
    _keep_fieldless(metadata)


def _keep_generation(metadata: dict[str, Any], old_metadata: dict[str, Any]) -> None:
    set_or_drop(metadata, "generation", old_metadata.get("generation"))


def _keep_fieldless(metadata: dict[str, Any]) -> None:
    metadata.pop("selfLink", None)


def _check(store: ResourceStore, ctx: Context, obj: Object, old: Object, options: UpdateOptions) -> None:
    """Refuse an object that is not valid; add the warnings about one that is. Raises 422."""
    faults = bounded(lambda: _faults(store, ctx, obj, old, options))
    if faults:
        raise errors.invalid(store.definition.stored_kind, old["metadata"]["name"], faults)
    if options.warnings is not None and options.part is Part.MAIN:
        options.warnings.extend(store.strategy.warnings_on_update(ctx, obj, old))


def _faults(store: ResourceStore, ctx: Context, obj: Object, old: Object, options: UpdateOptions) -> list[FieldError]:
    definition, strategy = store.definition, store.strategy
    metadata = obj["metadata"]
    faults: list[FieldError] = []
    if any(metadata.get(name) != old["metadata"].get(name) for name in _VALIDATED):
        faults = update_faults(metadata, old["metadata"], namespaced=definition.namespaced)
        if options.faults is None:
            own = definition.metadata_checks.of("status" if options.part is Part.STATUS else ctx.subresource)
            faults += kinds_update_faults(strategy, own, metadata, old["metadata"], namespaced=definition.namespaced)
    if options.faults is not None:
        faults.extend(options.faults(obj, old))
    elif options.part is Part.STATUS:
        faults.extend(strategy.validate_status_update(ctx, obj, old))
    else:
        faults.extend(strategy.validate_update(ctx, obj, old))
    return faults


def _should_delete(store: ResourceStore, obj: Object, old: Object) -> bool:
    """The last finalizer has gone from an object whose deletion was requested."""
    if not is_deleting(old) or store.strategy.pending_finalizers(obj):
        return False
    return not old["metadata"].get("deletionGracePeriodSeconds")


async def _is_stored_otherwise(store: ResourceStore, obj: Object, row: KeyValue) -> bool:
    """Whether an unchanged object is written all the same: its row is in an older form (storage migration), or
    encrypted with another key than is used now.
    """
    if store.is_stale is not None and await store.is_stale(row.key):
        return True
    if row.mod_revision > store.definition.rewritten_after:
        return False
    raw = await store.store.get(row.key)
    return raw is None or await offloaded(_differs, store, raw.value, await store.stored_form(obj))


def _differs(store: ResourceStore, raw: bytes, obj: Object) -> bool:
    return bool(decode(raw) != decode(store.encode(obj)))


def is_unchanged(obj: Object, old: Object) -> bool:
    """Whether writing `obj` over `old` would change nothing but managedFields timestamps, which `obj` then loses."""
    keep_timestamps(old, obj)
    return obj == old
