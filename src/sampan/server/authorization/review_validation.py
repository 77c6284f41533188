"""Validation of access reviews.

Source: kubernetes pkg/apis/authorization/validation/validation.go, apimachinery pkg/apis/meta/v1/validation (1.36).
"""

from collections.abc import Collection
from typing import Any, Final

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import label_value_errors
from sampan.registry.rules.fields import check_qualified_name

_SPEC: Final = Path("spec")
_ATTRIBUTES: Final = Path("spec.resourceAttributes")


def review_faults(review: Object, *, own: bool) -> list[FieldError]:
    """Return the faults of a SubjectAccessReview, or with `own` of a SelfSubjectAccessReview."""
    return [*_spec_faults(review.get("spec") or {}, own=own), *_metadata_faults(review, (), "must be empty")]


def local_review_faults(review: Object) -> list[FieldError]:
    """Return the faults of a LocalSubjectAccessReview."""
    spec = review.get("spec") or {}
    faults = _spec_faults(spec, own=False)
    faults += _metadata_faults(review, ("namespace",), "must be empty except for namespace")
    attributes, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if attributes is not None:
        namespace = attributes.get("namespace") or ""
        if namespace != (review["metadata"].get("namespace") or ""):
            at = Path("spec.resourceAttributes.namespace")
            faults.append(invalid(at, namespace, "must match metadata.namespace"))
    if path is not None:
        at = Path("spec.nonResourceAttributes")
        faults.append(invalid(at, _internal(path), "disallowed on this kind of request"))
    return faults


def _spec_faults(spec: Object, *, own: bool) -> list[FieldError]:
    faults: list[FieldError] = []
    attributes, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if attributes is not None and path is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        faults.append(invalid(_SPEC.child("nonResourceAttributes"), _internal(path), detail))
    if attributes is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        faults.append(invalid(_SPEC.child("resourceAttributes"), None, detail))
    if not own and not spec.get("user") and not spec.get("groups"):
        faults.append(invalid(_SPEC.child("user"), "", "at least one of user or group must be specified"))
    if attributes is not None:
        for name in ("fieldSelector", "labelSelector"):
            _check_selector(attributes.get(name), name, faults)
    return faults


def _metadata_faults(review: Object, allowed: Collection[str], detail: str) -> list[FieldError]:
    metadata = review.get("metadata") or {}
    if any(value for name, value in metadata.items() if name != "managedFields" and name not in allowed):
        return [invalid(Path("metadata"), metadata, detail)]
    return []


def _check_selector(selector: Object | None, name: str, faults: list[FieldError]) -> None:
    if selector is None:
        return
    at = _ATTRIBUTES.child(name)
    raw, requirements = selector.get("rawSelector") or "", selector.get("requirements") or []
    if raw and requirements:
        detail = "may not specified at the same time as requirements"
        faults.append(invalid(at.child("rawSelector"), raw, detail))
    if not raw and not requirements:
        detail = f"when {at} is specified, requirements or rawSelector is required"
        faults.append(required(at.child("requirements"), detail))
    for index, requirement in enumerate(requirements):
        _check_requirement(requirement, at.child("requirements").index(index), faults, labels=name == "labelSelector")


def _check_requirement(requirement: Object, at: Path, faults: list[FieldError], *, labels: bool) -> None:
    """Check a requirement of a selector. Unknown operators are allowed, because newer clients may use them."""
    key, values = requirement.get("key") or "", requirement.get("values") or []
    operator = requirement.get("operator")
    if not key and not labels:
        faults.append(required(at.child("key"), "must be specified"))
    if operator in ("In", "NotIn") and not values:
        faults.append(required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
    if operator in ("Exists", "DoesNotExist") and values:
        faults.append(
            forbidden(at.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        )
    if labels:
        check_qualified_name(key, at.child("key"), faults)
        for index, value in enumerate(values):
            place = at.child("values").index(index)
            faults += [invalid(place, value, text) for text in label_value_errors(value)]


def _internal(attributes: Object) -> dict[str, Any]:
    """Return non-resource attributes with the field names that Kubernetes uses in errors."""
    return {"Path": attributes.get("path") or "", "Verb": attributes.get("verb") or ""}
