"""Validation of the versions of a CRD: schemas, subresources, printer columns and selectable fields.

A value that all versions share is reported once, under the field of Kubernetes' internal form (`spec.validation`,
`spec.subresources`, …). Differing values are reported under their versions.
Source: apiextensions pkg/apis/apiextensions/{validation/validation,v1/conversion}.go (1.36).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required, too_many
from sampan.core.validation.names import dns1035_label_errors
from sampan.registry.crd.validation.schemas import schema_faults, selectable_schema
from sampan.registry.crd.validation.strictness import Rules, has_defaults

SELECTABLE_FIELDS_MAX = 8
COLUMNS_MAX = 256
"""Maximum number of columns of a version. Every cell of a Table is computed for every row.

Kubernetes has no limit; real CRDs have up to 30 columns.
"""
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SPEC = Path("spec")

Faults = list[FieldError]
Json = dict[str, Any]
_SUMMARY = ("name", "served", "storage", "deprecated", "deprecationWarning")
FaultsOf = Callable[[Json, Path], Iterable[FieldError]]
"""Returns the faults of one version's field at a path."""


def versions_faults(spec: Json, rules: Rules, old: Json | None) -> Faults:
    """Return all faults of `spec.versions`. `old` is the spec before."""
    versions = spec.get("versions") or []
    path = _SPEC.child("versions")
    faults = [*_missing_schemas(spec, versions, rules, path)]
    if spec.get("preserveUnknownFields") and rules.defaults and has_defaults(spec):
        text = "must be false in order to use defaults in the schema"
        faults.append(invalid(_SPEC.child("preserveUnknownFields"), True, text))
    for index, version in enumerate(versions):
        at = path.index(index)
        if texts := dns1035_label_errors(version.get("name", "")):
            faults.append(invalid(at.child("name"), version.get("name", ""), ",".join(texts)))
            if index == 0 and version.get("name"):
                faults.append(invalid(_SPEC.child("version"), version["name"], ",".join(texts)))
        warning = version.get("deprecationWarning")
        faults += [invalid(at.child("deprecationWarning"), warning, text) for text in _warning_texts(version)]
    unchanged = _unchanged_schemas(spec, old)
    has_status = any("status" in (version.get("subresources") or {}) for version in versions)

    def schema(version: Json, at: Path) -> Iterable[FieldError]:
        own = (version.get("schema") or {}).get("openAPIV3Schema")
        if own is None or version.get("name") in unchanged:
            return []
        status = has_status if str(at) == "spec.validation" else "status" in (version.get("subresources") or {})
        found = schema_faults(own, at.child("openAPIV3Schema"), structural=rules.structural, status=status)
        if not rules.defaults:
            found += _forbidden_defaults(own, at.child("openAPIV3Schema"))
        return found

    faults += _each(versions, "schema", "validation", schema)
    faults += _each(versions, "subresources", "subresources", _subresources_faults)
    faults += _each(versions, "additionalPrinterColumns", "additionalPrinterColumns", _columns_faults)
    faults += _each(versions, "selectableFields", "selectableFields", _selectable_faults)
    names = [version.get("name") for version in versions]
    if len(set(names)) != len(names):
        faults.append(invalid(path, _summaries(versions), "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        shown = None if spec.get("versions") is None else _summaries(versions)
        faults.append(invalid(path, shown, "must have exactly one version marked as storage version"))
    return faults


def _summaries(versions: list[Json]) -> list[Json]:
    """Return the versions without schemas and other large fields, for error messages about the list."""
    return [{name: version[name] for name in _SUMMARY if name in version} for version in versions]


def _each(versions: list[Json], name: str, together: str, faults_of: FaultsOf) -> Iterator[FieldError]:
    """Yield the faults of one field of all versions: once if the field is equal in all versions."""
    if not versions:
        return
    first = versions[0].get(name)
    if all(version.get(name) == first for version in versions):
        if first is not None:
            yield from faults_of(versions[0], _SPEC.child(together))
        return
    for index, version in enumerate(versions):
        if version.get(name) is not None:
            yield from faults_of(version, _SPEC.child("versions").index(index).child(name))


def _missing_schemas(spec: Json, versions: list[Json], rules: Rules, path: Path) -> Iterator[FieldError]:
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is not None:
            continue
        at = path.index(index).child("schema", "openAPIV3Schema")
        if rules.schema:
            yield required(at)
        elif version.get("served") and not spec.get("preserveUnknownFields"):
            yield required(at, "because otherwise all fields are pruned")


def _unchanged_schemas(spec: Json, old: Json | None) -> set[str]:
    """Return the versions whose schema was accepted before under the same conditions. Their schemas are not checked
    again.
    """
    if old is None or bool(old.get("preserveUnknownFields")) != bool(spec.get("preserveUnknownFields")):
        return set()
    before = {version.get("name"): version for version in old.get("versions") or ()}
    return {
        version["name"]
        for version in spec.get("versions") or ()
        if (known := before.get(version.get("name"))) is not None
        and known.get("schema") == version.get("schema")
        and ("status" in (known.get("subresources") or {})) == ("status" in (version.get("subresources") or {}))
    }


def _forbidden_defaults(schema: Json, path: Path) -> Iterator[FieldError]:
    if schema.get("default") is not None:
        yield forbidden(path.child("default"), "must not be set (only allowed in apiextensions.k8s.io/v1)")
    if isinstance(schema.get("items"), dict):
        yield from _forbidden_defaults(schema["items"], path.child("items"))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _forbidden_defaults(schema["additionalProperties"], path.child("additionalProperties"))
    for name, child in (schema.get("properties") or {}).items():
        yield from _forbidden_defaults(child, path.child("properties").key(name))


def _warning_texts(version: Json) -> Iterator[str]:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield "can only be set for deprecated versions"
        return
    if len(text.encode()) > 256:
        yield "must be <= 256 characters long"
    if not text:
        yield "must not be an empty string"
    for index, char in enumerate(text):
        if not char.isprintable():
            at = len(text[:index].encode())
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            break


def _columns_faults(version: Json, path: Path) -> Iterator[FieldError]:
    columns = version["additionalPrinterColumns"]
    if len(columns) > COLUMNS_MAX:
        yield too_many(path, len(columns), COLUMNS_MAX)
    for index, column in enumerate(columns):
        yield from _column_faults(column, path.index(index))


def _column_faults(column: Json, path: Path) -> Iterator[FieldError]:
    types, formats = ",".join(_COLUMN_TYPES), ",".join(_COLUMN_FORMATS)
    if not column.get("name"):
        yield required(path.child("name"))
    if not column.get("type"):
        yield required(path.child("type"), f"must be one of {types}")
    elif column["type"] not in _COLUMN_TYPES:
        yield invalid(path.child("type"), column["type"], f"must be one of {types}")
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield invalid(path.child("format"), column["format"], f"must be one of {formats}")
    if not column.get("jsonPath"):
        yield required(path.child("JSONPath"))
    else:
        yield from _simple_path_faults(column["jsonPath"], path.child("JSONPath"))


def _simple_path_faults(text: str, path: Path) -> Faults:
    if not text.startswith("."):
        return [invalid(path, text, "must be a simple json path starting with .")]
    return []


def _subresources_faults(version: Json, path: Path) -> Iterator[FieldError]:
    scale = version["subresources"].get("scale")
    if scale is None:
        return
    for name, parent in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        at = path.child(f"scale.{name}")
        text = scale.get(name)
        if not text:
            yield required(at)
        elif found := _simple_path_faults(text, at):
            yield from found
        elif not text.startswith(parent):
            yield invalid(at, text, f"should be a json path under {parent[:-1]}")
    text = scale.get("labelSelectorPath")
    if text:
        at = path.child("scale.labelSelectorPath")
        if found := _simple_path_faults(text, at):
            yield from found
        elif not text.startswith((".spec.", ".status.")):
            yield invalid(at, text, "should be a json path under either .spec or .status")


def _selectable_faults(version: Json, path: Path) -> Iterator[FieldError]:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema is None:
        text = "may only be set when `version.schema.openAPIV3Schema` is not included"
        alone = "may only be set when validations.schema is included"
        yield invalid(path, "", alone if str(path) == "spec.selectableFields" else text)
        return
    seen: set[str] = set()
    for index, selectable in enumerate(version["selectableFields"]):
        at = path.index(index).child("jsonPath")
        text = selectable.get("jsonPath", "")
        if not text:
            yield required(at)
            continue
        try:
            found = selectable_schema(schema, text)
        except ValueError as error:
            yield invalid(at, text, f"is an invalid path: {error}")
            continue
        if text.split(".")[1:2] == ["metadata"]:
            yield invalid(at, text, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            rule = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            yield invalid(at, text, rule)
        if text in seen:
            yield duplicate(at, text)
        seen.add(text)
    if len(seen) > SELECTABLE_FIELDS_MAX:
        yield too_many(path, len(seen), SELECTABLE_FIELDS_MAX)
