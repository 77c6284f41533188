"""`metav1.DeleteOptions`, from a body or from the query, validated.

Source: apimachinery pkg/apis/meta/v1/validation, apiserver pkg/endpoints/handlers/delete.go (1.36).
"""

from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core import errors
from sampan.core.field import Path, invalid, not_supported
from sampan.core.go_text import json_kind, json_number, kind_text
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.server.request import Request
from sampan.server.verbs.options import dry_run_faults, parse_bool, parse_int

_META: Final = "meta.k8s.io"
_KIND: Final = "DeleteOptions"


@dataclass(slots=True)
class DeleteParameters:
    """`metav1.DeleteOptions` from the body or, without one, from the query."""

    grace_period_s: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: list[str] = field(default_factory=list)


def delete_options(parameters: DeleteParameters) -> Object:
    """Return the DeleteOptions as an object, for admission."""
    options: Object = {"kind": _KIND, "apiVersion": "meta.k8s.io/v1"}
    if parameters.grace_period_s is not None:
        options["gracePeriodSeconds"] = parameters.grace_period_s
    known = {"uid": parameters.uid, "resourceVersion": parameters.resource_version}
    preconditions = {name: value for name, value in known.items() if value is not None}
    if preconditions:
        options["preconditions"] = preconditions
    if parameters.orphan_dependents is not None:
        options["orphanDependents"] = parameters.orphan_dependents
    if parameters.propagation_policy is not None:
        options["propagationPolicy"] = parameters.propagation_policy
    if parameters.dry_run:
        options["dryRun"] = parameters.dry_run
    return options


def delete_parameters(request: Request, body: Any) -> DeleteParameters:
    """Return validated delete options. Raises 400 and 422."""
    parameters = _from_body(body) if body is not None else _from_query(request)
    faults = []
    policy = parameters.propagation_policy
    if parameters.orphan_dependents is not None and policy is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        faults.append(invalid(Path("propagationPolicy"), policy, text))
    if policy is not None and policy not in ("Foreground", "Background", "Orphan"):
        known = ["Foreground", "Background", "Orphan", "nil"]
        faults.append(not_supported(Path("propagationPolicy"), policy, known))
    faults += dry_run_faults(parameters.dry_run)
    if faults:
        raise errors.invalid(GroupKind(_META, _KIND), "", faults)
    return parameters


def _from_query(request: Request) -> DeleteParameters:
    return DeleteParameters(
        grace_period_s=parse_int(request, "gracePeriodSeconds"),
        propagation_policy=_given(request, "propagationPolicy"),
        orphan_dependents=parse_bool(request, "orphanDependents"),
        uid=_given(request, "uid"),
        resource_version=_given(request, "resourceVersion") if request.info.verb == "delete" else None,
        dry_run=request.wire.query.get("dryRun", []),
    )


def _given(request: Request, name: str) -> str | None:
    return request.wire.param(name) if name in request.wire.query else None


def _from_body(body: dict[str, Any]) -> DeleteParameters:
    kind = body.get("kind") or _KIND
    if kind != _KIND:
        version = body.get("apiVersion") or f"{_META}/v1"
        raise errors.bad_request(f'no kind "{kind}" is registered for version "{version}"')
    preconditions = _typed(body, "preconditions", dict, "v1.Preconditions") or {}
    place = "Preconditions.preconditions"
    return DeleteParameters(
        grace_period_s=_typed(body, "gracePeriodSeconds", int, "int64"),
        propagation_policy=_typed(body, "propagationPolicy", str, "v1.DeletionPropagation"),
        orphan_dependents=_typed(body, "orphanDependents", bool, "bool"),
        uid=_typed(preconditions, "uid", str, "types.UID", place),
        resource_version=_typed(preconditions, "resourceVersion", str, "string", place),
        dry_run=[str(item) for item in _typed(body, "dryRun", list, "[]string") or []],
    )


def _typed(body: dict[str, Any], name: str, kind: type, go_type: str, place: str = _KIND) -> Any:
    value = body.get(name)
    if value is None or type(value) is kind:
        return value
    given = json_number(value) if kind is int else json_kind(value)
    raise errors.bad_request(kind_text(given, go_type, field=f"{place}.{name}"))
