"""Spec of the SubjectAccessReview for a webhook and its match conditions.

Source: apiserver plugin/pkg/authorizer/webhook/webhook.go, pkg/authorization/cel/compile.go (1.36).
"""

from typing import Any, Final

from sampan.core.label_selectors import Operator
from sampan.core.selectors.fields import parse_fields
from sampan.core.selectors.label_parser import parse_labels
from sampan.server.request import RequestInfo, UserInfo

_OPERATORS: Final = {
    Operator.IN: "In",
    Operator.EQUALS: "In",
    Operator.DOUBLE_EQUALS: "In",
    Operator.NOT_IN: "NotIn",
    Operator.NOT_EQUALS: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.DOES_NOT_EXIST: "DoesNotExist",
}
_ATTRIBUTES: Final = ("namespace", "verb", "group", "version", "resource", "subresource", "name")


def review_spec(user: UserInfo, info: RequestInfo) -> dict[str, Any]:
    """Return the spec as JSON values, without empty fields."""
    spec: dict[str, Any] = {}
    if info.is_resource:
        attributes: dict[str, Any] = {name: getattr(info, name) for name in _ATTRIBUTES if getattr(info, name)}
        for name, requirements in (("fieldSelector", _fields(info)), ("labelSelector", _labels(info))):
            if requirements:
                attributes[name] = {"requirements": requirements}
        spec["resourceAttributes"] = attributes
    else:
        non_resource = {"path": info.path, "verb": info.verb}
        spec["nonResourceAttributes"] = {name: value for name, value in non_resource.items() if value}
    extra = {name: list(values) for name, values in user.extra.items()}
    subject = {"user": user.name, "groups": list(user.groups), "extra": extra, "uid": user.uid}
    return spec | {name: value for name, value in subject.items() if value}


def expression_request(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec as the variable `request` of match conditions, in which empty strings are present."""
    request = {"user": "", "groups": [], "uid": "", "extra": {}, **spec}
    if "resourceAttributes" in spec:
        request["resourceAttributes"] = {**dict.fromkeys(_ATTRIBUTES, ""), **spec["resourceAttributes"]}
    else:
        request["nonResourceAttributes"] = {"path": "", "verb": "", **spec["nonResourceAttributes"]}
    return request


def _fields(info: RequestInfo) -> list[dict[str, Any]]:
    """Return the field requirements. If the selector is invalid, return none: the review is about a less restricted
    request.
    """
    try:
        requirements = parse_fields(info.field_selector).requirements
    except ValueError:
        return []
    return [{"key": each.field, "operator": _OPERATORS[each.operator], "values": [each.value]} for each in requirements]


def _labels(info: RequestInfo) -> list[dict[str, Any]]:
    """Return the label requirements, without those whose operators access reviews do not support."""
    try:
        requirements = parse_labels(info.label_selector).requirements
    except ValueError:
        return []
    return [
        {"key": each.key, "operator": _OPERATORS[each.operator]}
        | ({"values": list(each.values)} if each.values else {})
        for each in requirements
        if each.operator in _OPERATORS
    ]
