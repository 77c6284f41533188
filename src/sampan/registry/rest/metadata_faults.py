"""Faults of an object's metadata, by the rules of all objects and then by the rules of its kind.

Source: apiserver pkg/registry/rest/update.go validateCommonFields (1.36).
"""

from typing import Any

from sampan.core import field
from sampan.core.field import FieldError, Path
from sampan.core.validation.metadata import (
    validate_object_meta,
    validate_object_meta_update,
    validate_standard_finalizers,
)
from sampan.core.validation.names import path_segment_errors
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


def kinds_update_faults(strategy: Strategy, metadata: Metadata, old: Metadata) -> list[FieldError]:
    """Return the faults of an update by the rules of the kind.

    Kubernetes repeats the rules of all objects here, for some kinds twice. Sampan reports each fault once.
    """
    faults: list[FieldError] = []
    prefix = metadata.get("generateName")
    if prefix and prefix != old.get("generateName"):
        texts = strategy.name_errors(prefix, prefix=True)
        faults += [field.invalid(_METADATA.child("generateName"), prefix, text) for text in texts]
    return faults + _finalizer_faults(strategy, metadata)


def _finalizer_faults(strategy: Strategy, metadata: Metadata) -> list[FieldError]:
    finalizers = metadata.get("finalizers")
    if not finalizers or not strategy.standard_finalizers:
        return []
    return validate_standard_finalizers(finalizers, _METADATA.child("finalizers"))
