"""Flow schemas. Source: pkg/registry/flowcontrol/flowschema, pkg/apis/flowcontrol/{v1,validation} (1.36)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from sampan.core.field import Path, duplicate, forbidden, invalid, required
from sampan.core.object import Object, set_or_drop
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.registry.columns.cells import EMPTY, NAME, NONE, at, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.flowcontrol.bootstrap import FLOW_CONTROL_GROUP, MANDATORY, flow_schemas
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_PRECEDENCE_DEFAULT = 1000
_PRECEDENCE_MAX = 10_000
_METHODS = ("ByNamespace", "ByUser")
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_NAMESPACE_INTRO = "each member of this list must be '*' or a DNS-1123 label; "


def keep_all_metadata(obj: Object, old: Object) -> None:
    """Restore the metadata, except the managed fields and the resourceVersion that the client sent."""
    metadata = obj["metadata"]
    obj["metadata"] = dict(old["metadata"])
    for name in ("managedFields", "resourceVersion"):
        set_or_drop(obj["metadata"], name, metadata.get(name))


def check_condition_types(status: Object, errors: Errors) -> None:
    """Check that the types of conditions are unique and not empty."""
    seen: set[str] = set()
    for index, condition in enumerate(status.get("conditions") or ()):
        path, kind = Path("status", "conditions").index(index).child("type"), condition.get("type", "")
        if kind in seen:
            errors.append(duplicate(path, kind))
        seen.add(kind)
        if not kind:
            errors.append(required(path))


def same_spec(spec: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Return True if two specs are equal. Fields that are zero, false or empty count as absent."""
    return bool(_significant(spec) == _significant(expected))


def _significant(value: Any) -> Any:
    if isinstance(value, dict):
        parts = {name: _significant(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part not in (None, False, "", [], {})}
    return [_significant(part) for part in value] if isinstance(value, list) else value


def _check_service_account(subject: Object, path: Path, errors: Errors) -> None:
    name, namespace = subject.get("name", ""), subject.get("namespace", "")
    if not name:
        errors.append(required(path.child("name")))
    elif name != "*":
        errors.extend(invalid(path.child("name"), name, text) for text in dns1123_subdomain_errors(name))
    if namespace:
        texts = dns1123_label_errors(namespace)
        errors.extend(invalid(path.child("namespace"), namespace, text) for text in texts)
    else:
        errors.append(required(path.child("namespace"), "must specify namespace for service account"))


def _check_subject(subject: Object, path: Path, errors: Errors) -> None:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        errors.append(not_supported(path.child("kind"), kind, ("Group", "ServiceAccount", "User")))
        return
    field = _SUBJECTS[kind]
    value = subject.get(field)
    if value is None:
        errors.append(required(path.child(field), f"{field} is required when subject kind is '{kind}'"))
    elif kind == "ServiceAccount":
        _check_service_account(value, path.child(field), errors)
    elif not value.get("name"):
        errors.append(required(path.child(field, "name")))
    for other_kind, other in _SUBJECTS.items():
        if other != field and other in subject:
            detail = f"{other} is forbidden when subject kind is not '{other_kind}'"
            errors.append(forbidden(path.child(other), detail))


def _check_verbs(verbs: list[str], path: Path, errors: Errors) -> None:
    if not verbs:
        errors.append(required(path, "verbs must contain at least one value"))
    elif "*" in verbs:
        if len(verbs) > 1:
            errors.append(invalid(path, verbs, "if '*' is present, must not specify other verbs"))
    elif not set(verbs) <= set(_VERBS):
        errors.append(not_supported(path, verbs, _VERBS))


def _url_problem(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    stars = url.count("*")
    if stars > 1 or (stars == 1 and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _check_non_resource_rule(rule: Object, path: Path, errors: Errors) -> None:
    _check_verbs(rule.get("verbs") or [], path.child("verbs"), errors)
    urls, at = rule.get("nonResourceURLs") or [], path.child("nonResourceURLs")
    if not urls:
        errors.append(required(at, "nonResourceURLs must contain at least one value"))
    elif "*" in urls:
        if len(urls) > 1:
            errors.append(invalid(at, urls, "if '*' is present, must not specify other non-resource URLs"))
    else:
        for index, url in enumerate(urls):
            problem = _url_problem(url)
            if problem:
                errors.append(invalid(at.index(index), url, problem))


def _check_namespaces(rule: Object, path: Path, errors: Errors) -> None:
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(path, detail))
    elif "*" in namespaces:
        if len(namespaces) > 1:
            errors.append(invalid(path, namespaces, "if '*' is present, must not specify other namespaces"))
    else:
        for index, namespace in enumerate(namespaces):
            texts = dns1123_label_errors(namespace)
            errors.extend(invalid(path.index(index), namespace, _NAMESPACE_INTRO + text) for text in texts)


def _check_resource_rule(rule: Object, path: Path, errors: Errors) -> None:
    _check_verbs(rule.get("verbs") or [], path.child("verbs"), errors)
    for name, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(name) or []
        if not values:
            errors.append(required(path.child(name), f"resource rules must supply at least one {one}"))
        elif len(values) > 1 and "*" in values:
            errors.append(invalid(path.child(name), values, f"if '*' is present, must not specify other {many}"))
    _check_namespaces(rule, path.child("namespaces"), errors)


def _check_rules(rules: Iterable[Object], errors: Errors) -> None:
    for index, rule in enumerate(rules):
        path = _SPEC.child("rules").index(index)
        subjects = rule.get("subjects") or ()
        for position, subject in enumerate(subjects):
            _check_subject(subject, path.child("subjects").index(position), errors)
        if not subjects:
            errors.append(required(path.child("subjects"), "subjects must contain at least one value"))
        resources, others = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
        if not resources and not others:
            errors.append(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
        for position, each in enumerate(resources):
            _check_resource_rule(each, path.child("resourceRules").index(position), errors)
        for position, each in enumerate(others):
            _check_non_resource_rule(each, path.child("nonResourceRules").index(position), errors)


class FlowSchemaStrategy(Strategy):
    """Defaults and rules of flow schemas."""

    reset_metadata: ClassVar = {}

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Restore all metadata."""
        super().keep_for_status_update(obj, old)
        keep_all_metadata(obj, old)

    def default(self, obj: Object) -> None:
        """Set defaults: a matching precedence of 1000. The namespaces of a rule are always present."""
        spec = obj.setdefault("spec", {})
        if not spec.get("matchingPrecedence"):
            spec["matchingPrecedence"] = _PRECEDENCE_DEFAULT
        for rules in spec.get("rules") or ():
            for rule in rules.get("resourceRules") or ():
                rule.setdefault("namespaces", None)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        precedence, path = spec.get("matchingPrecedence", 0), _SPEC.child("matchingPrecedence")
        if precedence <= 0:
            errors.append(invalid(path, precedence, "must be a positive value"))
        if precedence > _PRECEDENCE_MAX:
            errors.append(invalid(path, precedence, f"must not be greater than {_PRECEDENCE_MAX}"))
        if precedence == 1 and obj["metadata"].get("name") != "exempt":
            detail = "only the schema named 'exempt' may have matchingPrecedence 1"
            errors.append(invalid(path, precedence, detail))
        method = spec.get("distinguisherMethod")
        if method is not None and method.get("type") not in _METHODS:
            errors.append(not_supported(_SPEC.child("distinguisherMethod", "type"), method.get("type", ""), _METHODS))
        level, path = (
            spec.get("priorityLevelConfiguration", {}).get("name", ""),
            _SPEC.child("priorityLevelConfiguration", "name"),
        )
        if level:
            errors.extend(invalid(path, level, text) for text in dns1123_subdomain_errors(level))
        else:
            errors.append(required(path, "must reference a priority level"))
        _check_rules(spec.get("rules") or (), errors)
        name = obj["metadata"].get("name")
        if name in MANDATORY and not same_spec(spec, flow_schemas()[name]):
            errors.append(invalid(_SPEC, spec, f"spec of '{name}' must equal the fixed value"))
        check_condition_types(obj.get("status", {}), errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that the types of conditions are unique."""
        check_condition_types(obj.get("status", {}), errors)


def _missing_priority_level(schema: Object) -> str:
    for condition in schema.get("status", EMPTY).get("conditions", ()):
        if condition.get("type") == "Dangling":
            return str(condition.get("status", ""))
    return "?"


def _precedence(schema: Object) -> tuple[int, str]:
    """Sort key of rows: the schema that is matched first comes first.

    Source: pkg/printers/internalversion/printers.go printFlowSchemaList (1.36).
    """
    return (schema.get("spec") or {}).get("matchingPrecedence", 0), schema["metadata"]["name"]


KINDS: Final = (
    Kind(
        FLOW_CONTROL_GROUP,
        "flowschemas",
        FlowSchemaStrategy(),
        columns=lambda ages: (
            NAME,
            column("PriorityLevel", at("spec", "priorityLevelConfiguration", "name")),
            column("MatchingPrecedence", at("spec", "matchingPrecedence", default=0)),
            column("DistinguisherMethod", at("spec", "distinguisherMethod", "type", default=NONE)),
            ages.column,
            column("MissingPL", _missing_priority_level),
        ),
        row_order=_precedence,
    ),
)
