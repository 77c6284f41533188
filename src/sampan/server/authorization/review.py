"""User and request of an access review.

Source: kubernetes pkg/registry/authorization/util/helpers.go (1.36).
"""

from collections.abc import Callable
from typing import Any, Final

from sampan.core.label_selectors import Operator, Requirement, Selector, new_requirement
from sampan.core.object import Object
from sampan.core.selectors.fields import FieldRequirement, FieldSelector, parse_fields
from sampan.core.selectors.label_parser import parse_labels
from sampan.server.request import RequestInfo, UserInfo

_LABEL_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}
_FIELD_OPERATORS: Final = {"In": Operator.EQUALS, "NotIn": Operator.NOT_EQUALS}


def reviewed_user(spec: Object) -> UserInfo:
    """Return the user of a SubjectAccessReview."""
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    return UserInfo(spec.get("user") or "", spec.get("uid") or "", tuple(spec.get("groups") or ()), extra)


def reviewed_request(spec: Object) -> tuple[RequestInfo, list[str]]:
    """Return the request of an access review, and the faults of its selectors.

    Invalid selectors are left out, so the review is about a less restricted request.
    """
    attributes: dict[str, Any] | None = spec.get("resourceAttributes")
    if attributes is None:
        path = spec["nonResourceAttributes"]
        return RequestInfo(path.get("path") or "", path.get("verb") or ""), []
    faults: list[str] = []
    fields = _selector(attributes, "fieldSelector", _field_selector, faults)
    labels = _selector(attributes, "labelSelector", _label_selector, faults)
    info = RequestInfo(
        "",
        attributes.get("verb") or "",
        is_resource=True,
        group=attributes.get("group") or "",
        version=attributes.get("version") or "*",
        namespace=attributes.get("namespace") or "",
        resource=attributes.get("resource") or "",
        subresource=attributes.get("subresource") or "",
        name=attributes.get("name") or "",
        field_selector=fields,
        label_selector=labels,
    )
    return info, faults


def _selector(attributes: Object, name: str, parse: Callable[[Object], tuple[str, bool]], faults: list[str]) -> str:
    """Return a selector as a string. Append a line to `faults` if parts of it are invalid."""
    value = attributes.get(name)
    if not value:
        return ""
    text, complete = parse(value)
    if not complete:
        partially = "partially " if text else ""
        faults.append(f"spec.resourceAttributes.{name} {partially}ignored due to parse error")
    return text


def _field_selector(value: Object) -> tuple[str, bool]:
    raw, requirements = value.get("rawSelector"), value.get("requirements") or []
    if not requirements:
        try:
            return str(parse_fields(raw or "")), True
        except ValueError:
            return "", False
    understood = [
        FieldRequirement(each.get("key") or "", _FIELD_OPERATORS[each["operator"]], each["values"][0])
        for each in requirements
        if each.get("operator") in _FIELD_OPERATORS and len(each.get("values") or ()) == 1
    ]
    return str(FieldSelector(understood)), len(understood) == len(requirements)


def _label_selector(value: Object) -> tuple[str, bool]:
    raw, requirements = value.get("rawSelector"), value.get("requirements") or []
    if not requirements:
        try:
            return str(parse_labels(raw or "")), True
        except ValueError:
            return "", False
    understood = [made for each in requirements if (made := _label_requirement(each)) is not None]
    return str(Selector(understood)), len(understood) == len(requirements)


def _label_requirement(value: Object) -> Requirement | None:
    operator = _LABEL_OPERATORS.get(value.get("operator") or "")
    if operator is None:
        return None
    try:
        return new_requirement(value.get("key") or "", operator, value.get("values") or ())
    except ValueError:
        return None
