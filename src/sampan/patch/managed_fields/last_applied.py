"""`kubectl.kubernetes.io/last-applied-configuration`: move from client-side to server-side apply and back.

Applies only to the manager `kubectl`; a client with another field manager is not affected.
Source: apimachinery pkg/util/managedfields/internal/{lastapplied,lastappliedmanager,lastappliedupdater}.go (1.36).
"""

from typing import Any

import orjson

from sampan.core.object import Object
from sampan.patch.atoms.atom import Atom, ElementError
from sampan.patch.atoms.type_check import type_errors
from sampan.patch.copying import copy_json
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, difference
from sampan.schema.structural import Schema

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"
ANNOTATIONS_BYTES_MAX = 256 * 1024
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def allowed_conflicts(live: Object, api_version: str, schema: Schema | None, atom: Atom) -> FieldSet:
    """Return the fields that kubectl applied client-side and that still have the applied value.

    kubectl may take over these fields without a conflict.
    """
    text = _annotations(live).get(LAST_APPLIED)
    last = _parse(text) if text else None
    if last is None or last.get("apiVersion") != api_version or type_errors(schema, last):
        return LEAF
    try:
        fields = atom.fields(last) or LEAF
        changed, removed = atom.compare(last, live)
    except ElementError:
        return LEAF
    return difference(difference(fields, changed or LEAF), removed or LEAF)


def sync_last_applied(obj: Object, config: Object) -> None:
    """Update the annotation after kubectl applied `config` server-side. Does not add the annotation if it is absent."""
    annotations = _annotations(obj)
    if not annotations.get(LAST_APPLIED):
        return
    applied = copy_json(config)
    metadata = applied.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("annotations"), dict):
        metadata["annotations"].pop(LAST_APPLIED, None)
    annotations[LAST_APPLIED] = orjson.dumps(applied, option=orjson.OPT_SORT_KEYS).decode().translate(_HTML) + "\n"
    if sum(len(name.encode()) + len(str(text).encode()) for name, text in annotations.items()) > ANNOTATIONS_BYTES_MAX:
        del annotations[LAST_APPLIED]


def _annotations(obj: Object) -> dict[str, Any]:
    found = (obj.get("metadata") or {}).get("annotations")
    return found if isinstance(found, dict) else {}


def _parse(text: Any) -> Object | None:
    try:
        last = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return last if isinstance(last, dict) else None
