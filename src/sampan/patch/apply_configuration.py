"""Merge an apply configuration into an object by the rules of server-side apply, without field ownership.

Source: apiserver pkg/admission/plugin/policy/mutating/patch/smd.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object
from sampan.patch.atoms.atom import ATOMIC, Atom, ElementError
from sampan.patch.atoms.atom_list import ListAtom
from sampan.patch.atoms.atom_map import MapAtom
from sampan.patch.atoms.atom_schema import root_atom
from sampan.patch.atoms.type_check import type_errors
from sampan.patch.copying import copy_json
from sampan.schema.structural import Schema


def merge_configuration(obj: Object, config: Object, schema: Schema) -> Object:
    """Return a new object: `obj` with `config`, of the same kind and version, applied to it.

    Raises `ValueError` when `config` does not fit the schema, or sets an atomic list or map.
    """
    faults = type_errors(schema, config)
    if faults:
        text = faults[0] if len(faults) == 1 else "\n".join(["errors:", *(f"  {fault}" for fault in faults)])
        raise ValueError(f"failed to convert patch object to typed object: {text}")
    atom = root_atom(schema)
    atomic = sorted(_atomic_paths(atom, config, ""))
    if atomic:
        raise ValueError(
            f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        )
    try:
        merged: Object = atom.merge(copy_json(obj), config)
    except ElementError as error:
        raise ValueError(f"failed to merge patch: {error}") from None
    return merged


def _atomic_paths(atom: Atom, value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the atomic lists and maps in `value`."""
    if atom is ATOMIC and isinstance(value, dict | list):
        yield path
    elif isinstance(atom, MapAtom) and isinstance(value, dict):
        for name, child in value.items():
            yield from _atomic_paths(atom.field(name).atom, child, f"{path}.{name}")
    elif isinstance(atom, ListAtom) and isinstance(value, list):
        for index, child in enumerate(value):
            yield from _atomic_paths(atom.item, child, f"{path}[{index}]")
