"""Patches of `[[tool.sampan.patches]]`, applied to the objects of every format."""

from collections.abc import Sequence
from typing import Any

from sampan.core.errors import StatusError
from sampan.core.gvk import GroupVersion, GroupVersionKind
from sampan.patch import json_patch, merge_patch, strategic_merge
from sampan.patch.copying import copy_json
from sampan.project.bundle.settings import PatchSettings
from sampan.project.errors import ProjectError
from sampan.resource import Object
from sampan.schema.builtin import Definitions
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.decoding.decode_error import DecodeError


def patched(objects: Sequence[Object], patches: Sequence[PatchSettings]) -> list[Object]:
    """Return the objects after all patches, in order.

    Raises `ProjectError` for a patch that fails or matches nothing.
    """
    if not patches:
        return list(objects)
    found, definitions = list(objects), Definitions()
    for number, patch in enumerate(patches):
        place = f"tool.sampan.patches[{number}]"
        indexes = [index for index, obj in enumerate(found) if _matches(obj, patch)]
        if not indexes:
            there = sorted(set(map(_words, found)))
            raise ProjectError(f"{place} matches no object: there are {', '.join(there)}")
        for index in indexes:
            found[index] = _apply(found[index], patch, definitions, place)
            _check(found[index], definitions, place)
    return found


def _matches(obj: Object, patch: PatchSettings) -> bool:
    return bool(obj["kind"] == patch.kind) and patch.name in ("", obj["metadata"]["name"])


def _check(obj: Object, definitions: Definitions, place: str) -> None:
    """Raise `ProjectError` for an object that a server would not read as it is: unknown fields, wrong types."""
    schema = definitions.schema_for_kind(_gvk(obj))
    if schema is None:
        return  # a kind of another program
    unknown: list[str] = []
    try:
        CompiledSchema(schema, SchemaCompiler(definitions)).decode(copy_json(obj), unknown=unknown)
    except DecodeError as error:
        raise ProjectError(f"{place} makes {_words(obj)} invalid: {error}") from error
    if unknown:
        raise ProjectError(f"{place} sets an unknown field of {_words(obj)}: {unknown[0]}")


def _gvk(obj: Object) -> GroupVersionKind:
    return GroupVersionKind(*GroupVersion.parse(obj["apiVersion"]), obj["kind"])


def _words(obj: Object) -> str:
    return f"{obj['kind']}/{obj['metadata']['name']}"


def _apply(obj: Object, patch: PatchSettings, definitions: Definitions, place: str) -> Object:
    what = _words(obj)
    try:
        if patch.merge is None:
            after = json_patch.apply_or_explain(obj, [dict(each) for each in patch.json])
        else:
            schema = definitions.schema_for_kind(_gvk(obj))
            merge: Any = dict(patch.merge)
            after = merge_patch.apply(obj, merge) if schema is None else strategic_merge.apply(obj, merge, schema)
    except (StatusError, json_patch.NotApplicableError) as error:
        raise ProjectError(f"{place} cannot change {what}: {error}") from error
    if (after.get("kind"), (after.get("metadata") or {}).get("name")) != (obj["kind"], obj["metadata"]["name"]):
        raise ProjectError(f"{place} may not change the kind or the name of {what}")
    return after
