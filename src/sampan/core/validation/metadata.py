"""Validate `metadata`, given as a dict whose fields have the right types. Absent fields cost almost nothing.

Source: apimachinery pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation/validation.go,
apiserver pkg/endpoints/handlers/rest.go, apiextensions-apiserver pkg/registry/customresource/validator.go (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sampan.core import field
from sampan.core.field import FieldError, Path
from sampan.core.go_text import strings
from sampan.core.validation.names import (
    NameRule,
    dns1123_label_errors,
    label_value_errors,
    longer_than,
    qualified_name_errors,
)

ANNOTATIONS_SIZE_MAX: Final = 256 * 1024
"""Limit of the bytes of all annotation keys and values of one object."""

FIELD_MANAGER_LENGTH_MAX: Final = 128
SUBRESOURCE_LENGTH_MAX: Final = 256
FINALIZER_ORPHAN: Final = "orphan"
FINALIZER_FOREGROUND: Final = "foregroundDeletion"
_STANDARD_FINALIZERS = frozenset((FINALIZER_ORPHAN, FINALIZER_FOREGROUND, "kubernetes"))
_NOT_STANDARD: Final = "name is neither a standard finalizer name nor is it fully qualified"
IMMUTABLE: Final = "field is immutable"

METADATA: Final = Path("metadata")

Metadata = Mapping[str, Any]


def validate_object_meta(
    metadata: Metadata, *, namespaced: bool, name_rule: NameRule, path: Path = METADATA
) -> list[FieldError]:
    """Validate the metadata of a new object, after its name was generated."""
    errors: list[FieldError] = []
    generate_name = metadata.get("generateName")
    if generate_name:
        texts = name_rule(generate_name, prefix=True)
        errors += [field.invalid(path.child("generateName"), generate_name, text) for text in texts]
    name = metadata.get("name")
    if not name:
        errors.append(field.required(path.child("name"), "name or generateName is required"))
    elif texts := name_rule(name):
        errors += [field.invalid(path.child("name"), name, text) for text in texts]
    namespace = metadata.get("namespace")
    if not namespaced:
        if namespace:
            errors.append(field.forbidden(path.child("namespace"), "not allowed on this type"))
    elif not namespace:
        errors.append(field.required(path.child("namespace")))
    elif texts := dns1123_label_errors(namespace):
        errors += [field.invalid(path.child("namespace"), namespace, text) for text in texts]
    generation = metadata.get("generation")
    if generation and generation < 0:
        errors.append(field.invalid(path.child("generation"), generation, "must be greater than or equal to 0"))
    _validate_labels_to_owners(metadata, path, errors)
    if finalizers := metadata.get("finalizers"):
        errors += validate_finalizers(finalizers, path.child("finalizers"))
    if managed_fields := metadata.get("managedFields"):
        errors += validate_managed_fields(managed_fields, path.child("managedFields"))
    return errors


_IMMUTABLE_FIELDS: Final[tuple[tuple[str, object], ...]] = (
    ("name", ""),
    ("namespace", ""),
    ("uid", ""),
    ("creationTimestamp", None),
    ("deletionTimestamp", None),
    ("deletionGracePeriodSeconds", None),
)


def validate_object_meta_update(new: Metadata, old: Metadata, path: Path = METADATA) -> list[FieldError]:
    """Validate the metadata of an object that replaces `old`."""
    errors: list[FieldError] = []
    if old.get("deletionTimestamp") is not None:
        finalizers_path = path.child("finalizers")
        errors += validate_no_new_finalizers(new.get("finalizers") or (), old.get("finalizers") or (), finalizers_path)
    if not new.get("resourceVersion"):
        errors.append(field.invalid(path.child("resourceVersion"), "", "must be specified for an update"))
    generation = new.get("generation") or 0
    if generation < (old.get("generation") or 0):
        errors.append(field.invalid(path.child("generation"), generation, "must not be decremented"))
    for name, absent in _IMMUTABLE_FIELDS:
        value = new.get(name, absent)
        if value != old.get(name, absent):
            errors.append(field.invalid(path.child(name), value, IMMUTABLE))
    _validate_labels_to_owners(new, path, errors)
    if managed_fields := new.get("managedFields"):
        errors += validate_managed_fields(managed_fields, path.child("managedFields"))
    return errors


def _validate_labels_to_owners(metadata: Metadata, path: Path, errors: list[FieldError]) -> None:
    if labels := metadata.get("labels"):
        errors += validate_labels(labels, path.child("labels"))
    if annotations := metadata.get("annotations"):
        errors += validate_annotations(annotations, path.child("annotations"))
    if owners := metadata.get("ownerReferences"):
        errors += validate_owner_references(owners, path.child("ownerReferences"))


def validate_label_name(name: str, path: Path) -> list[FieldError]:
    """Validate a label key (or any other qualified name)."""
    return [field.invalid(path, name, text) for text in qualified_name_errors(name)]


def validate_labels(labels: Mapping[str, str] | None, path: Path) -> list[FieldError]:
    """Return the errors of the keys and values of labels."""
    errors: list[FieldError] = []
    for key, value in (labels or {}).items():
        if texts := qualified_name_errors(key):
            errors += [field.invalid(path, key, text) for text in texts]
        if texts := label_value_errors(value):
            errors += [field.invalid(path, value, text) for text in texts]
    return errors


def validate_annotations(annotations: Mapping[str, str] | None, path: Path) -> list[FieldError]:
    """Validate annotations: their keys (case-insensitively) and their total size."""
    errors: list[FieldError] = []
    if not annotations:
        return errors
    size = 0
    for key, value in annotations.items():
        size += len(key) + len(value)
        if texts := qualified_name_errors(key.lower()):
            errors += [field.invalid(path, key, text) for text in texts]
    if size * 4 > ANNOTATIONS_SIZE_MAX and annotations_size_bytes(annotations) > ANNOTATIONS_SIZE_MAX:
        errors.append(field.too_long(path, "", ANNOTATIONS_SIZE_MAX))
    return errors


def annotations_size_bytes(annotations: Mapping[str, str]) -> int:
    """Return the total bytes of all keys and values."""
    return sum(
        len(key.encode("utf-8", "surrogatepass")) + len(value.encode("utf-8", "surrogatepass"))
        for key, value in annotations.items()
    )


def validate_owner_references(references: Sequence[Mapping[str, Any]], path: Path) -> list[FieldError]:
    """Validate owner references: name, kind, version and uid are required, and only one may be the controller."""
    errors: list[FieldError] = []
    controller = ""
    for reference in references:
        errors += _validate_owner_reference(reference, path)
        if reference.get("controller") is True:
            current = f"{reference.get('kind', '')}/{reference.get('name', '')}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {current}'
                )
                errors.append(field.invalid(path, references, detail))
            else:
                controller = current
    return errors


def _validate_owner_reference(reference: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    api_version = reference.get("apiVersion") or ""
    kind = reference.get("kind") or ""
    if not api_version or api_version.count("/") > 1 or api_version.endswith("/") or api_version == "/":
        errors.append(field.invalid(path.child("apiVersion"), api_version, "version must not be empty"))
    empty = [name for name in ("kind", "name", "uid") if not reference.get(name)]
    errors += [field.invalid(path.child(name), "", "must not be empty") for name in empty]
    if api_version in ("v1", "/v1") and kind == "Event":
        errors.append(field.invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner"))
    return errors


_DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
)


def dedup_owner_references(metadata: dict[str, Any], *, after_mutating_admission: bool = False) -> str | None:
    """Remove exact duplicates from `ownerReferences`, in place. Return the warning to send, or None."""
    references = metadata.get("ownerReferences")
    if not references or len(references) == 1:
        return None
    kept: list[Any] = []
    duplicates: list[str] = []
    known: set[str] = set()
    for reference in references:
        shown = field.go_json(reference, sort=True)
        if shown in known:
            duplicates.append(reference.get("uid", ""))
        else:
            known.add(shown)
            kept.append(reference)
    if not duplicates:
        return None
    metadata["ownerReferences"] = kept
    when = " after mutating admission happens" if after_mutating_admission else ""
    return _DUPLICATE_OWNERS.format(when=when, uids=", ".join(duplicates))


def validate_finalizers(finalizers: Sequence[str], path: Path) -> list[FieldError]:
    """Validate finalizers: their names, and that orphan and foreground deletion are not combined."""
    errors: list[FieldError] = []
    for finalizer in finalizers:
        errors += validate_finalizer_name(finalizer, path)
    if FINALIZER_ORPHAN in finalizers and FINALIZER_FOREGROUND in finalizers:
        detail = f"finalizer {FINALIZER_ORPHAN} and {FINALIZER_FOREGROUND} cannot be both set"
        errors.append(field.invalid(path, finalizers, detail))
    return errors


def validate_standard_finalizers(finalizers: Sequence[str], path: Path) -> list[FieldError]:
    """Return an error for each finalizer that neither has a domain nor is defined by Kubernetes."""
    errors: list[FieldError] = []
    for i, name in enumerate(finalizers):
        errors += validate_standard_finalizer(name, path.index(i))
    return errors


def validate_standard_finalizer(name: str, path: Path) -> list[FieldError]:
    """Return an error if the finalizer neither has a domain nor is defined by Kubernetes."""
    return [] if "/" in name or name in _STANDARD_FINALIZERS else [field.invalid(path, name, _NOT_STANDARD)]


def validate_finalizer_name(name: str, path: Path) -> list[FieldError]:
    """Apply the rules of label names: an optional DNS prefix with a slash, then at most 63 characters."""
    return validate_label_name(name, path)


def validate_no_new_finalizers(new: Iterable[str], old: Iterable[str], path: Path) -> list[FieldError]:
    """Reject new finalizers on an object that is being deleted."""
    extra = sorted(set(new).difference(old))
    if not extra:
        return []
    detail = f"no new finalizers can be added if the object is being deleted, found new finalizers {strings(extra)}"
    return [field.forbidden(path, detail)]


def finalizer_warnings(finalizers: Sequence[str] | None, path: Path | None = None) -> list[str]:
    """Return warnings for finalizers of custom resources whose names have no domain."""
    warnings: list[str] = []
    for name in finalizers or ():
        where = path or METADATA.child("finalizers")
        warnings += [f"{where}: {field.quote(name)}: {text}" for text in qualified_name_errors(name)]
        if "/" in name or name in _STANDARD_FINALIZERS:
            continue
        including = " including a path (/)" if "." in name else ""
        warnings.append(
            f"{where}: {field.quote(name)}: prefer a domain-qualified finalizer name{including} "
            "to avoid accidental conflicts with other finalizer writers"
        )
    return warnings


def validate_immutable_field(new: object, old: object, path: Path) -> list[FieldError]:
    """Validate that a value has not changed."""
    return [] if new == old else [field.invalid(path, new, IMMUTABLE)]


def validate_field_manager(manager: str, path: Path) -> list[FieldError]:
    """Validate the name of a field manager: up to 128 bytes, printable."""
    errors: list[FieldError] = []
    if longer_than(manager, FIELD_MANAGER_LENGTH_MAX):
        errors.append(field.too_long(path, "", FIELD_MANAGER_LENGTH_MAX))
    if manager.isprintable():
        return errors
    position = 0
    for char in manager:
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {position})"
            errors.append(field.invalid(path, manager, detail))
        position += len(char.encode("utf-8", "surrogatepass"))
    return errors


def validate_managed_fields(entries: Sequence[Mapping[str, Any]], path: Path) -> list[FieldError]:
    """Validate the structure of `managedFields`."""
    errors: list[FieldError] = []
    for index, entry in enumerate(entries):
        operation = entry.get("operation", "")
        if operation != "Apply" and operation != "Update":
            where = path.index(index).child("operation")
            errors.append(field.invalid(where, operation, "must be `Apply` or `Update`"))
        fields_type = entry.get("fieldsType")
        if fields_type and fields_type != "FieldsV1":
            errors.append(field.invalid(path.index(index).child("fieldsType"), fields_type, "must be `FieldsV1`"))
        manager = entry.get("manager") or ""
        if len(manager) * 4 > FIELD_MANAGER_LENGTH_MAX or not manager.isprintable():
            errors += validate_field_manager(manager, path.index(index).child("manager"))
        if longer_than(entry.get("subresource") or "", SUBRESOURCE_LENGTH_MAX):
            errors.append(field.too_long(path.index(index).child("subresource"), "", SUBRESOURCE_LENGTH_MAX))
    return errors
