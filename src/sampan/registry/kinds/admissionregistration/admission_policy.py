"""Admission policies. Source: pkg/registry/admissionregistration, pkg/apis/admissionregistration (1.36).

Expressions are compiled during validation, with the same inputs as at admission time.
"""

import re
from functools import partial
from typing import ClassVar, Final

from sampan.core.field import Path, duplicate, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1035_label_errors, dns1123_subdomain_errors
from sampan.registry.columns.cells import EMPTY, NAME, UNSET, column, count, integer
from sampan.registry.kind import Kind
from sampan.registry.kinds.admissionregistration.rules import (
    FAILURE_POLICIES,
    REINVOCATION_POLICIES,
    check_choice,
    check_compiles,
    check_match_conditions,
    check_match_resources,
    check_mutating_operations,
    default_match_resources,
    static_suffix_warnings,
)
from sampan.registry.rules.conditions import check_conditions
from sampan.registry.rules.fields import Errors, check_qualified_name, not_supported
from sampan.registry.strategy import OBJECT_METADATA, Context, Strategy
from sampan.schema.cel.admission import JSON_PATCH, OBJECT, Expressions, Inputs
from sampan.schema.cel.types import BOOL, NULL, STRING, list_of, struct

_SPEC = Path("spec")
_STATUS = Path("status")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_AUDIT_ANNOTATIONS_MAX = 20
_AUDIT_EXPRESSION_BYTES_MAX = 5 * 1024
_is_identifier = re.compile("[_a-zA-Z][_a-zA-Z0-9]*").fullmatch
_RESERVED = (
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function"),
    *("if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
)
_PATCH_TYPES = {"JSONPatch": list_of(JSON_PATCH), "ApplyConfiguration": struct(OBJECT)}
_PATCHES = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}


def _check_param_kind(kind: Object, path: Path, errors: Errors) -> None:
    version, name = kind.get("apiVersion", ""), kind.get("kind", "")
    at = path.child("apiVersion")
    group, _, last = version.rpartition("/")
    if not version:
        errors.append(required(at))
    elif "/" in group:
        errors.append(invalid(at, version, f"unexpected GroupVersion string: {version}"))
    else:
        if group and (texts := dns1123_subdomain_errors(group)):
            errors.append(invalid(at, group, ",".join(texts)))
        if not last:
            errors.append(invalid(at, version, "version must be specified"))
        elif texts := dns1035_label_errors(last):
            errors.append(invalid(at, last, ",".join(texts)))
    if not name:
        errors.append(required(path.child("kind")))
    elif texts := dns1035_label_errors(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(texts)}"
        errors.append(invalid(path.child("kind"), name, detail))


def _check_variables(variables: list[Object], expressions: Expressions, path: Path, errors: Errors) -> None:
    for index, variable in enumerate(variables):
        at, name = path.index(index), variable.get("name", "")
        expression = variable.get("expression", "")
        if not name.strip():
            errors.append(required(at.child("name"), "name is not specified"))
        elif not _is_identifier(name) or name in _RESERVED:
            errors.append(invalid(at.child("name"), name, "must be a valid CEL identifier"))
        if not expression.strip():
            errors.append(required(at.child("expression"), "expression is not specified"))
        else:
            check_compiles(partial(expressions.add_variable, name), expression, at.child("expression"), errors)


def _check_validation(validation: Object, expressions: Expressions, path: Path, errors: Errors) -> None:
    expression = validation.get("expression", "")
    if not expression.strip():
        errors.append(required(path.child("expression"), "expression is not specified"))
    else:
        giving_bool = partial(expressions.compile, results=(BOOL,))
        check_compiles(giving_bool, expression, path.child("expression"), errors)
    message_expression, message = validation.get("messageExpression", ""), validation.get("message", "")
    if message_expression and not message_expression.strip():
        errors.append(invalid(path.child("messageExpression"), message_expression, "must be non-empty if specified"))
    elif message_expression:
        giving_text = partial(expressions.compile, results=(STRING,), authorizer=False)
        check_compiles(giving_text, message_expression, path.child("messageExpression"), errors)
    if message and not message.strip():
        errors.append(invalid(path.child("message"), message, "must be non-empty if specified"))
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.append(invalid(path.child("message"), message, "must not contain line breaks"))
    check_choice(validation.get("reason"), _REASONS, path.child("reason"), errors)


def _check_audit_annotations(policy: Object, expressions: Expressions, path: Path, errors: Errors) -> None:
    annotations, policy_name = policy["spec"].get("auditAnnotations") or [], policy["metadata"].get("name", "")
    if len(annotations) > _AUDIT_ANNOTATIONS_MAX:
        detail = f"must not have more than {_AUDIT_ANNOTATIONS_MAX} auditAnnotations"
        errors.append(invalid(path, annotations, detail))
    keys: set[str] = set()
    for index, annotation in enumerate(annotations):
        at, key = path.index(index), annotation.get("key", "")
        if policy_name:
            check_qualified_name(f"{policy_name}/{key}", at.child("key"), errors)
        else:
            errors.append(invalid(at.child("key"), key, "requires metadata.name be non-empty"))
        expression = annotation.get("valueExpression", "").strip()
        if not expression:
            errors.append(required(at.child("valueExpression"), "valueExpression is not specified"))
        elif len(expression) > _AUDIT_EXPRESSION_BYTES_MAX:
            detail = f"must not exceed {_AUDIT_EXPRESSION_BYTES_MAX} bytes in length"
            errors.append(required(at.child("valueExpression"), detail))
        else:
            giving_value = partial(expressions.compile, results=(STRING, NULL))
            check_compiles(giving_value, expression, at.child("valueExpression"), errors)
        if key in keys:
            errors.append(duplicate(at.child("key"), key))
        keys.add(key)


class _PolicyStrategy(Strategy):
    """Behavior that both kinds of policies share."""

    kept_metadata = OBJECT_METADATA
    reset_metadata: ClassVar = {}
    standard_finalizers = False
    allow_unconditional_update = False
    _mutating = False

    def default(self, obj: Object) -> None:
        """Set defaults: a failing policy rejects the request."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("failurePolicy", "Fail")
        default_match_resources(spec.get("matchConstraints"))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        self._check(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Unchanged match conditions are not checked again."""
        self._check(obj, old.get("spec", {}), errors)

    def _check(self, obj: Object, old: Object | None, errors: Errors) -> None:
        spec = obj.setdefault("spec", {})
        check_choice(spec.get("failurePolicy"), FAILURE_POLICIES, _SPEC.child("failurePolicy"), errors)
        if "paramKind" in spec:
            _check_param_kind(spec["paramKind"], _SPEC.child("paramKind"), errors)
        match, path = spec.get("matchConstraints"), _SPEC.child("matchConstraints")
        if match is None:
            errors.append(required(path))
        else:
            check_match_resources(match, path, errors)
            if not match.get("resourceRules"):
                errors.append(required(path.child("resourceRules")))
            if self._mutating:
                check_mutating_operations(match, path, errors)
        same = old is not None and all(spec.get(n) == old.get(n) for n in ("paramKind", "matchConditions"))
        if not same:
            conditions, at = spec.get("matchConditions") or [], _SPEC.child("matchConditions")
            check_match_conditions(conditions, at, errors, params="paramKind" in spec)
        expressions = Expressions(Inputs(params="paramKind" in spec))
        _check_variables(spec.get("variables") or [], expressions, _SPEC.child("variables"), errors)
        self._check_specific(obj, expressions, errors)

    def _check_specific(self, obj: Object, expressions: Expressions, errors: Errors) -> None:
        """Check the fields that only one kind of policy has."""

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names that are reserved for configurations from files."""
        return static_suffix_warnings(obj)


class ValidatingAdmissionPolicyStrategy(_PolicyStrategy):
    """Strategy of validating policies, which need at least one validation or audit annotation."""

    def _check_specific(self, obj: Object, expressions: Expressions, errors: Errors) -> None:
        spec = obj["spec"]
        validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
        if not validations and not annotations:
            detail = "validations or auditAnnotations must contain at least one item"
            errors.extend(required(_SPEC.child(name), detail) for name in ("validations", "auditAnnotations"))
            return
        for index, validation in enumerate(validations):
            _check_validation(validation, expressions, _SPEC.child("validations").index(index), errors)
        _check_audit_annotations(obj, expressions, _SPEC.child("auditAnnotations"), errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that type checking warnings have a text and a field, and that conditions are well-formed."""
        status = obj.get("status") or {}
        checking = status.get("typeChecking") or {}
        for index, warning in enumerate(checking.get("expressionWarnings") or ()):
            path = _STATUS.child("typeChecking", "expressionWarnings").index(index)
            if not warning.get("warning"):
                errors.append(required(path.child("warning")))
            if not warning.get("fieldRef", "").strip():
                errors.append(required(path.child("fieldRef")))
        check_conditions(status.get("conditions") or (), _STATUS.child("conditions"), errors)


class MutatingAdmissionPolicyStrategy(_PolicyStrategy):
    """Strategy of mutating policies, which need at least one mutation."""

    _mutating = True

    def _check_specific(self, obj: Object, expressions: Expressions, errors: Errors) -> None:
        spec = obj["spec"]
        mutations, path = spec.get("mutations") or [], _SPEC.child("mutations")
        if not mutations:
            errors.append(required(path, "mutations must contain at least one item"))
        for index, mutation in enumerate(mutations):
            self._check_mutation(mutation, expressions, path.index(index), errors)
        policy = spec.get("reinvocationPolicy", "")
        if not policy:
            errors.append(required(_SPEC.child("reinvocationPolicy")))
        else:
            check_choice(policy, REINVOCATION_POLICIES, _SPEC.child("reinvocationPolicy"), errors)

    def _check_mutation(self, mutation: Object, expressions: Expressions, path: Path, errors: Errors) -> None:
        kind = mutation.get("patchType", "")
        if not kind:
            errors.append(required(path.child("patchType")))
            return
        if kind not in _PATCHES:
            errors.append(not_supported(path.child("patchType"), kind, ("ApplyConfiguration", "JSONPatch")))
            return
        for other, name in _PATCHES.items():
            patch = mutation.get(name)
            if other != kind:
                if patch is not None:
                    detail = f"must not be specified when patchType is {kind}"
                    errors.append(invalid(path.child(name), f"{{{name}}}", detail))
            elif patch is None:
                errors.append(required(path.child(name), f"must be specified when patchType is {kind}"))
            elif not patch.get("expression", "").strip():
                errors.append(required(path.child(name, "expression")))
            else:
                giving_patch = partial(expressions.compile, results=(_PATCH_TYPES[kind],), patches=True)
                check_compiles(giving_patch, patch["expression"].strip(), path.child(name, "expression"), errors)


def _param_kind(policy: Object) -> str:
    kind = policy.get("spec", EMPTY).get("paramKind")
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


_PARAM_KIND: Final = column("ParamKind", _param_kind)

KINDS: Final = (
    Kind(
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        ValidatingAdmissionPolicyStrategy(),
        columns=lambda ages: (
            NAME,
            integer("Validations", count("spec", "validations")),
            _PARAM_KIND,
            ages.column,
        ),
    ),
    Kind(
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicies",
        MutatingAdmissionPolicyStrategy(),
        columns=lambda ages: (
            NAME,
            integer("Mutations", count("spec", "mutations")),
            _PARAM_KIND,
            ages.column,
        ),
    ),
)
