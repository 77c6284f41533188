"""Faults of an object's metadata, by the rules of all objects and then by those of its kind.

Source: apiserver pkg/registry/rest/update.go validateCommonFields (1.36).
"""

from collections.abc import Sequence
from typing import Any

from sampan.core.field import FieldError, Path
from sampan.core.metadata import validate_object_meta, validate_object_meta_update, validate_standard_finalizers
from sampan.core.names import path_segment_errors
from sampan.registry.metadata_checks import Check
from sampan.registry.strategy import Strategy

_METADATA = Path("metadata")

Metadata = dict[str, Any]


def object_faults(strategy: Strategy, metadata: Metadata, *, namespaced: bool) -> list[FieldError]:
    """Return the faults of a new object by the rules of its kind."""
    faults = validate_object_meta(metadata, namespaced=namespaced, name_rule=strategy.name_errors, path=_METADATA)
    return faults + _finalizer_faults(strategy, metadata)


def update_faults(metadata: Metadata, old: Metadata, *, namespaced: bool) -> list[FieldError]:
    """Return the faults of an update by the rules of all objects."""
    faults = validate_object_meta(metadata, namespaced=namespaced, name_rule=path_segment_errors, path=_METADATA)
    return faults + validate_object_meta_update(metadata, old, path=_METADATA)


def kinds_update_faults(
    strategy: Strategy, checks: Sequence[Check], metadata: Metadata, old: Metadata, *, namespaced: bool
) -> list[FieldError]:
    """Return the faults of an update by the rules of the kind, once for each of its checks."""
    faults: list[FieldError] = []
    for check in checks:
        if check is Check.OBJECT:
            faults += object_faults(strategy, metadata, namespaced=namespaced)
        else:
            faults += validate_object_meta_update(metadata, old, path=_METADATA)
            faults += _finalizer_faults(strategy, metadata)
    return faults


def _finalizer_faults(strategy: Strategy, metadata: Metadata) -> list[FieldError]:
    finalizers = metadata.get("finalizers")
    if not finalizers or not strategy.standard_finalizers:
        return []
    return validate_standard_finalizers(finalizers, _METADATA.child("finalizers"))
