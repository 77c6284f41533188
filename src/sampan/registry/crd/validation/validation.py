"""Validation of CustomResourceDefinitions in the hub version (apiextensions.k8s.io/v1).

Source: apiextensions pkg/apis/apiextensions/validation/validation.go (1.36).
"""

from typing import Any

from sampan.core.field import FieldError, Path, invalid, not_supported, required
from sampan.core.object import Object
from sampan.core.validation.metadata import validate_immutable_field
from sampan.core.validation.names import dns1035_label_errors, dns1123_subdomain_errors
from sampan.registry.crd.conditions import is_true
from sampan.registry.crd.validation.approval import approval_faults
from sampan.registry.crd.validation.conversion import conversion_faults
from sampan.registry.crd.validation.strictness import Rules
from sampan.registry.crd.validation.versions import versions_faults

_SPEC = Path("spec")

Faults = list[FieldError]


def validate_crd(crd: Object, old: Object | None = None, *, legacy: bool = False) -> Faults:
    """Return all faults of a CRD. `old` is the CRD that it replaces; `legacy`: it is written through v1beta1."""
    spec = crd["spec"]
    rules = Rules.of(spec, old, legacy=legacy)
    faults = [*_name_faults(crd), *_spec_faults(crd, rules, old)]
    if old is not None:
        faults += _immutable_faults(crd, old)
    faults += names_faults((crd.get("status") or {}).get("acceptedNames") or {}, Path("status", "acceptedNames"))
    faults += stored_versions_faults(crd)
    if not legacy:
        faults += approval_faults(crd, old)
        faults += _preserve_faults(spec, old)
    return faults


def _name_faults(crd: Object) -> Faults:
    spec = crd["spec"]
    name = crd["metadata"].get("name", "")
    if name and name != f"{spec['names'].get('plural', '')}.{spec.get('group', '')}":
        return [invalid(Path("metadata", "name"), name, 'must be spec.names.plural+"."+spec.group')]
    return []


def _spec_faults(crd: Object, rules: Rules, old: Object | None) -> Faults:
    spec = crd["spec"]
    faults = _group_faults(spec.get("group", ""))
    scope = spec.get("scope", "")
    if not scope:
        faults.append(required(_SPEC.child("scope")))
    elif scope not in ("Cluster", "Namespaced"):
        faults.append(not_supported(_SPEC.child("scope"), scope, ["Cluster", "Namespaced"]))
    faults += versions_faults(spec, rules, old["spec"] if old is not None else None)
    names, path = spec["names"], _SPEC.child("names")
    faults += [required(path.child(name)) for name in ("plural", "singular", "kind", "listKind") if not names.get(name)]
    faults += names_faults(names, path)
    return [*faults, *conversion_faults(spec, old)]


def _group_faults(group: str) -> Faults:
    path = _SPEC.child("group")
    if not group:
        return [required(path)]
    if texts := dns1123_subdomain_errors(group):
        return [invalid(path, group, ",".join(texts))]
    if "." not in group:
        return [invalid(path, group, "should be a domain with at least one dot")]
    return []


def names_faults(names: dict[str, Any], path: Path) -> Faults:
    """Return the faults of the names of a CRD, in its spec or its status."""
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


def stored_versions_faults(crd: Object) -> Faults:
    """Return the faults of `status.storedVersions`: it must contain the storage version, and only existing versions."""
    path = Path("status", "storedVersions")
    stored = (crd.get("status") or {}).get("storedVersions") or []
    if not stored:
        return [invalid(path, None, "must have at least one stored version")]
    versions = crd["spec"].get("versions") or []
    faults = [
        invalid(path, stored, "must have the storage version " + version["name"])
        for version in versions
        if version.get("storage") and version["name"] not in stored
    ]
    known = {version.get("name") for version in versions}
    for name, index in {name: index for index, name in enumerate(stored)}.items():
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


def _preserve_faults(spec: dict[str, Any], old: Object | None) -> Faults:
    if not spec.get("preserveUnknownFields") or (old is not None and old["spec"].get("preserveUnknownFields")):
        return []
    text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [invalid(_SPEC.child("preserveUnknownFields"), True, text)]
