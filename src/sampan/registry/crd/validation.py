"""What a CustomResourceDefinition may say. Works on the hub version (apiextensions.k8s.io/v1).

Source: apiextensions pkg/apis/apiextensions/validation/validation.go (1.36).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, not_supported, quote, required, too_many
from sampan.core.metadata import validate_immutable_field
from sampan.core.names import dns1035_label_errors, dns1123_subdomain_errors
from sampan.core.object import Object
from sampan.registry.crd.conditions import is_true
from sampan.registry.crd.schemas import schema_faults, selectable_schema

SELECTABLE_FIELDS_MAX = 8
APPROVAL_ANNOTATION = "api-approved.kubernetes.io"
_APPROVAL_URL = "https://github.com/kubernetes/enhancements/pull/1111"
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SPEC = Path("spec")

Faults = list[FieldError]


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict to be. `legacy`: written through v1beta1, where neither a schema nor an approval is required."""

    legacy: bool = False


def validate_crd(crd: Object, rules: Rules, old: Object | None = None) -> Faults:
    """All faults of a CRD; `old` is what it replaces."""
    spec = crd["spec"]
    faults = [*_name_faults(crd), *_spec_faults(spec, rules, old)]
    if old is not None:
        faults += _immutable_faults(crd, old)
    faults += names_faults((crd.get("status") or {}).get("acceptedNames") or {}, Path("status", "acceptedNames"))
    faults += stored_versions_faults(crd)
    if not rules.legacy:
        faults += _approval_faults(crd, old)
        faults += _preserve_faults(spec, old)
    return faults


def _name_faults(crd: Object) -> Faults:
    spec = crd["spec"]
    name = crd["metadata"].get("name", "")
    if name and name != f"{spec['names'].get('plural', '')}.{spec.get('group', '')}":
        return [invalid(Path("metadata", "name"), name, 'must be spec.names.plural+"."+spec.group')]
    return []


def _spec_faults(spec: dict[str, Any], rules: Rules, old: Object | None) -> Faults:
    faults = _group_faults(spec.get("group", ""))
    scope = spec.get("scope", "")
    if not scope:
        faults.append(required(_SPEC.child("scope")))
    elif scope not in ("Cluster", "Namespaced"):
        faults.append(not_supported(_SPEC.child("scope"), scope, ["Cluster", "Namespaced"]))
    faults += _versions_faults(spec, rules, old)
    names, path = spec["names"], _SPEC.child("names")
    faults += [required(path.child(name)) for name in ("plural", "singular", "kind", "listKind") if not names.get(name)]
    faults += names_faults(names, path)
    return faults + _conversion_faults(spec)


def _group_faults(group: str) -> Faults:
    path = _SPEC.child("group")
    if not group:
        return [required(path)]
    if texts := dns1123_subdomain_errors(group):
        return [invalid(path, group, ",".join(texts))]
    if "." not in group:
        return [invalid(path, group, "should be a domain with at least one dot")]
    return []


def _versions_faults(spec: dict[str, Any], rules: Rules, old: Object | None) -> Faults:
    versions = spec.get("versions") or []
    path = _SPEC.child("versions")
    faults: Faults = []
    old_schemas = {v["name"]: v.get("schema") for v in (old["spec"].get("versions") or [])} if old is not None else {}
    for index, version in enumerate(versions):
        at = path.index(index)
        if texts := dns1035_label_errors(version.get("name", "")):
            faults.append(invalid(at.child("name"), version.get("name", ""), ",".join(texts)))
        faults += _version_faults(spec, version, at, rules, old_schemas)
    names = [version.get("name") for version in versions]
    if len(set(names)) != len(names):
        faults.append(invalid(path, versions, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        faults.append(invalid(path, versions, text))
    return faults


def _version_faults(
    spec: dict[str, Any], version: dict[str, Any], path: Path, rules: Rules, old_schemas: dict[str, Any]
) -> Faults:
    faults = [
        invalid(path.child("deprecationWarning"), version.get("deprecationWarning"), text)
        for text in _warning_texts(version)
    ]
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    subresources = version.get("subresources") or {}
    at = path.child("schema").child("openAPIV3Schema")
    if schema is None:
        if not rules.legacy and None not in old_schemas.values():
            faults.append(required(at))
        elif version.get("served") and not spec.get("preserveUnknownFields"):
            faults.append(required(at, "because otherwise all fields are pruned"))
    elif version.get("schema") != old_schemas.get(version["name"]):
        structural = not (rules.legacy and spec.get("preserveUnknownFields"))
        faults += schema_faults(schema, at, structural=structural, status="status" in subresources)
    faults += _scale_faults(subresources.get("scale"), path.child("subresources"))
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        faults += _column_faults(column, path.child("additionalPrinterColumns").index(index))
    if version.get("selectableFields"):
        faults += _selectable_faults(version["selectableFields"], schema, path.child("selectableFields"))
    return faults


def _warning_texts(version: dict[str, Any]) -> Iterable[str]:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield "can only be set for deprecated versions"
        return
    if len(text) > 256:
        yield "must be <= 256 characters long"
    if not text:
        yield "must not be an empty string"
    for index, char in enumerate(text):
        if not char.isprintable():
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {index}"
            break


def names_faults(names: dict[str, Any], path: Path) -> Faults:
    """What is wrong with the names of a CRD, in its spec or its status."""
    faults: Faults = []
    for name in ("plural", "singular"):
        if names.get(name) and (texts := dns1035_label_errors(names[name])):
            faults.append(invalid(path.child(name), names[name], ",".join(texts)))
    for name in ("kind", "listKind"):
        if names.get(name) and (texts := dns1035_label_errors(names[name].lower())):
            text = "may have mixed case, but should otherwise match: " + ",".join(texts)
            faults.append(invalid(path.child(name), names[name], text))
    for index, short in enumerate(names.get("shortNames") or ()):
        if texts := dns1035_label_errors(short):
            faults.append(invalid(path.child("shortNames").index(index), short, ",".join(texts)))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        faults.append(invalid(path.child("listKind"), names["listKind"], "kind and listKind may not be the same"))
    for index, category in enumerate(names.get("categories") or ()):
        if texts := dns1035_label_errors(category):
            faults.append(invalid(path.child("categories").index(index), category, ",".join(texts)))
    return faults


def _column_faults(column: dict[str, Any], path: Path) -> Faults:
    faults: Faults = []
    types, formats = ",".join(_COLUMN_TYPES), ",".join(_COLUMN_FORMATS)
    if not column.get("name"):
        faults.append(required(path.child("name")))
    if not column.get("type"):
        faults.append(required(path.child("type"), f"must be one of {types}"))
    elif column["type"] not in _COLUMN_TYPES:
        faults.append(invalid(path.child("type"), column["type"], f"must be one of {types}"))
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        faults.append(invalid(path.child("format"), column["format"], f"must be one of {formats}"))
    if not column.get("jsonPath"):
        return [*faults, required(path.child("JSONPath"))]
    return faults + _simple_path_faults(column["jsonPath"], path.child("JSONPath"))


def _simple_path_faults(text: str, path: Path) -> Faults:
    if not text.startswith("."):
        return [invalid(path, text, "must be a simple json path starting with .")]
    return []


def _scale_faults(scale: dict[str, Any] | None, path: Path) -> Faults:
    if scale is None:
        return []
    faults: Faults = []
    for name, parent in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        at = path.child(f"scale.{name}")
        text = scale.get(name)
        if not text:
            faults.append(required(at))
        elif found := _simple_path_faults(text, at):
            faults += found
        elif not text.startswith(parent):
            faults.append(invalid(at, text, f"should be a json path under {parent[:-1]}"))
    text = scale.get("labelSelectorPath")
    if text:
        at = path.child("scale.labelSelectorPath")
        if found := _simple_path_faults(text, at):
            faults += found
        elif not text.startswith((".spec.", ".status.")):
            faults.append(invalid(at, text, "should be a json path under either .spec or .status"))
    return faults


def _selectable_faults(fields: list[dict[str, Any]], schema: dict[str, Any] | None, path: Path) -> Faults:
    if schema is None:
        return [invalid(path, "", "may only be set when `version.schema.openAPIV3Schema` is not included")]
    faults: Faults = []
    seen: set[str] = set()
    for index, selectable in enumerate(fields):
        at = path.index(index).child("jsonPath")
        text = selectable.get("jsonPath", "")
        if not text:
            faults.append(required(at))
            continue
        try:
            found = selectable_schema(schema, text)
        except ValueError as error:
            faults.append(invalid(at, text, f"is an invalid path: {error}"))
            continue
        if text.split(".")[1:2] == ["metadata"]:
            faults.append(invalid(at, text, "must not point to fields in metadata"))
        if found.get("type") not in ("string", "boolean", "integer"):
            rule = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            faults.append(invalid(at, text, rule))
        if text in seen:
            faults.append(duplicate(at, text))
        seen.add(text)
    if len(seen) > SELECTABLE_FIELDS_MAX:
        faults.append(too_many(path, len(seen), SELECTABLE_FIELDS_MAX))
    return faults


def _conversion_faults(spec: dict[str, Any]) -> Faults:
    conversion = spec.get("conversion")
    if not conversion:
        return []
    path = _SPEC.child("conversion")
    strategy = conversion.get("strategy", "")
    if strategy not in ("None", "Webhook"):
        at = path.child("strategy")
        return [not_supported(at, strategy, ["None", "Webhook"]) if strategy else required(at)]
    faults: Faults = []
    if strategy != "None" and spec.get("preserveUnknownFields"):
        faults.append(invalid(path.child("strategy"), strategy, "must be None if spec.preserveUnknownFields is true"))
    webhook = conversion.get("webhook") or {}
    client = webhook.get("clientConfig")
    at = path.child("webhookClientConfig")
    if strategy == "None":
        if client is not None:
            faults.append(forbidden(at, "should not be set when strategy is not set to Webhook"))
        return faults
    if client is None:
        faults.append(required(at, "required when strategy is set to Webhook"))
    elif ("url" in client) == ("service" in client):
        faults.append(required(at, "exactly one of url or service is required"))
    versions = webhook.get("conversionReviewVersions") or []
    at = path.child("conversionReviewVersions")
    if not versions:
        faults.append(required(at))
    elif not {"v1", "v1beta1"} & set(versions):
        faults.append(invalid(at, versions, "must include at least one of v1, v1beta1"))
    return faults


def stored_versions_faults(crd: Object) -> Faults:
    """`status.storedVersions` must name the storage version, and only versions that are still there."""
    path = Path("status", "storedVersions")
    stored = (crd.get("status") or {}).get("storedVersions") or []
    if not stored:
        return [invalid(path, stored, "must have at least one stored version")]
    versions = crd["spec"].get("versions") or []
    faults = [
        invalid(path, stored, "must have the storage version " + version["name"])
        for version in versions
        if version.get("storage") and version["name"] not in stored
    ]
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from "
                "status.storedVersions"
            )
            faults.append(invalid(path.index(index), name, text))
    return faults


def _immutable_faults(crd: Object, old: Object) -> Faults:
    spec, before = crd["spec"], old["spec"]
    names, old_names = spec["names"], before["names"]
    faults: Faults = []
    if is_true(old, "Established"):
        faults += validate_immutable_field(spec.get("scope"), before.get("scope"), _SPEC.child("scope"))
        faults += validate_immutable_field(names.get("kind"), old_names.get("kind"), _SPEC.child("names", "kind"))
    faults += validate_immutable_field(spec.get("group"), before.get("group"), _SPEC.child("group"))
    faults += validate_immutable_field(names.get("plural"), old_names.get("plural"), _SPEC.child("names", "plural"))
    return faults


def is_protected_group(group: str) -> bool:
    """Groups of the Kubernetes community, whose APIs need an approval."""
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def approval_state(crd: Object) -> tuple[str, str]:
    """(Missing | Bypassed | Approved | Invalid, why)."""
    value = (crd["metadata"].get("annotations") or {}).get(APPROVAL_ANNOTATION, "")
    annotation = quote(APPROVAL_ANNOTATION)
    if not value:
        return "Missing", f"protected groups must have approval annotation {annotation}, see {_APPROVAL_URL}"
    if value.startswith("unapproved"):
        return "Bypassed", f"not approved: {quote(value)}"
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme and parts.netloc:
        return "Approved", f"approved in {value}"
    return "Invalid", (
        f"protected groups must have approval annotation {annotation} with either a URL or a reason starting with "
        f'"unapproved", see {_APPROVAL_URL}'
    )


def _approval_faults(crd: Object, old: Object | None) -> Faults:
    if not is_protected_group(crd["spec"].get("group", "")):
        return []
    state, reason = approval_state(crd)
    if old is not None and approval_state(old)[0] == state:
        return []
    path = Path("metadata", "annotations").key(APPROVAL_ANNOTATION)
    if state == "Missing":
        return [required(path, reason)]
    if state == "Invalid":
        return [invalid(path, crd["metadata"]["annotations"][APPROVAL_ANNOTATION], reason)]
    return []


def _preserve_faults(spec: dict[str, Any], old: Object | None) -> Faults:
    if not spec.get("preserveUnknownFields") or (old is not None and old["spec"].get("preserveUnknownFields")):
        return []
    text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [invalid(_SPEC.child("preserveUnknownFields"), True, text)]
