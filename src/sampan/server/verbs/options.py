"""Query parameters and DeleteOptions as checked values.

Source: apimachinery pkg/apis/meta/v1/validation, meta/internalversion/validation (1.36).
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core import errors
from sampan.core.field import FieldError, Path, forbidden, invalid, not_supported, required, too_long
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.server.request import Request

FIELD_MANAGER_LENGTH_MAX = 128
_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_META = "meta.k8s.io"
_VALIDATIONS = frozenset({"", "Ignore", "Warn", "Strict"})
_APPLY = "application/apply-patch+yaml"


@dataclass(slots=True)
class WriteOptions:
    """What create, update and patch take. `field_validation`: Ignore, Warn or Strict."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool | None = None

    @property
    def strict(self) -> bool:
        """Whether unknown and duplicate fields refuse the request."""
        return self.field_validation == "Strict"


def parse_bool(text: str) -> bool:
    """Go's query conversion: anything but the false words is true."""
    return text.lower() not in ("false", "0", "")


def parse_int(request: Request, name: str) -> int | None:
    """A whole-number parameter. Raises 400."""
    if name not in request.query:
        return None
    text = request.param(name)
    if not _WHOLE_NUMBER.fullmatch(text):
        raise errors.bad_request(f"strconv.ParseInt: parsing {errors_quote(text)}: invalid syntax")
    value = int(text) if len(text) < 64 else 2**63
    if not -(2**63) <= value < 2**63:
        raise errors.bad_request(f"strconv.ParseInt: parsing {errors_quote(text)}: value out of range")
    return value


def errors_quote(text: str) -> str:
    """A quoted text for messages."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write_options(request: Request, kind: str, patch_type: str = "") -> WriteOptions:
    """The options of a write. Raises 422 (`CreateOptions.meta.k8s.io "" is invalid: …`)."""
    if not request.query and not patch_type:
        return WriteOptions(field_manager=manager_of_user_agent(request))
    options = WriteOptions(
        dry_run=bool(request.query.get("dryRun")),
        field_manager=request.param("fieldManager"),
        field_validation=request.param("fieldValidation"),
        force=parse_bool(request.param("force")) if request.param("force") else None,
    )
    faults: list[FieldError] = []
    if patch_type == _APPLY:
        if not options.field_manager:
            faults.append(required(Path("fieldManager"), "is required for apply patch"))
    elif patch_type and options.force is not None:
        faults.append(forbidden(Path("force"), "may not be specified for non-apply patch"))
    faults += _manager_faults(options.field_manager)
    faults += _dry_run_faults(request.query.get("dryRun", []))
    if options.field_validation not in _VALIDATIONS:
        faults.append(not_supported(Path("fieldValidation"), options.field_validation, _VALIDATIONS))
    if faults:
        raise errors.invalid(GroupKind(_META, kind), "", faults)
    options.field_validation = options.field_validation or "Warn"
    if not options.field_manager:
        options.field_manager = manager_of_user_agent(request)
    return options


def _manager_faults(manager: str) -> list[FieldError]:
    path = Path("fieldManager")
    faults = []
    if len(manager.encode()) > FIELD_MANAGER_LENGTH_MAX:
        faults.append(too_long(path, "", FIELD_MANAGER_LENGTH_MAX))
    faults += [
        invalid(path, manager, f"invalid character {_go_unicode(char)} (at position {index})")
        for index, char in enumerate(manager)
        if not char.isprintable()
    ]
    return faults


def _go_unicode(char: str) -> str:
    return f"U+{ord(char):04X}"


def _dry_run_faults(values: list[str]) -> list[FieldError]:
    if all(value == "All" for value in values):
        return []
    return [not_supported(Path("dryRun"), values, ["All"])]


def manager_of_user_agent(request: Request) -> str:
    """The field manager of a client that names none: its user agent up to the first slash."""
    agent = request.headers.get("user-agent", "").split("/", 1)[0]
    if not agent.isprintable():
        agent = "".join(char for char in agent if char.isprintable())
    return agent if len(agent) <= FIELD_MANAGER_LENGTH_MAX else agent[:FIELD_MANAGER_LENGTH_MAX]


@dataclass(slots=True)
class ListOptions:
    """What list, watch and deletecollection take."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    watch: bool = False
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_s: int | None = None


def list_options(request: Request) -> ListOptions:
    """Checked list options. Raises 400 (unparsable) and 422 (combinations, D7)."""
    query = request.query
    if not query:
        return ListOptions()
    initial = request.param("sendInitialEvents")
    options = ListOptions(
        label_selector=request.param("labelSelector"),
        field_selector=request.param("fieldSelector"),
        resource_version=request.param("resourceVersion"),
        resource_version_match=request.param("resourceVersionMatch"),
        limit=parse_int(request, "limit") or 0,
        continue_token=request.param("continue"),
        watch=request.info.verb == "watch",
        allow_watch_bookmarks=parse_bool(request.param("allowWatchBookmarks")),
        send_initial_events=parse_bool(initial) if initial else None,
        timeout_s=parse_int(request, "timeoutSeconds"),
    )
    if options.limit < 0:
        options.limit = 0
    _begin_with_state(options)
    faults = _watch_faults(options) if options.watch else _list_faults(options)
    if faults:
        raise errors.invalid(GroupKind(_META, "ListOptions"), "", faults)
    return options


def _begin_with_state(options: ListOptions) -> None:
    """A watch from no revision in particular begins with the present state, as if it had asked for that.

    Source: apimachinery pkg/apis/meta/internalversion/defaults.go (1.36).
    """
    legacy = options.resource_version in ("", "0") and not options.resource_version_match
    if options.watch and legacy and options.send_initial_events is None:
        options.send_initial_events, options.resource_version_match = True, "NotOlderThan"


_MATCH = Path("resourceVersionMatch")


def _list_faults(options: ListOptions) -> list[FieldError]:
    faults = []
    match = options.resource_version_match
    if match:
        if not options.resource_version:
            text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            faults.append(forbidden(_MATCH, text))
        if options.continue_token:
            faults.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            faults.append(not_supported(_MATCH, match, ["Exact", "NotOlderThan", ""]))
        if match == "Exact" and options.resource_version == "0":
            faults.append(forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if options.send_initial_events is not None:
        faults.append(forbidden(Path("sendInitialEvents"), "sendInitialEvents is forbidden for list"))
    return faults


def _watch_faults(options: ListOptions) -> list[FieldError]:
    faults = []
    match = options.resource_version_match
    if options.send_initial_events is not None and match != "NotOlderThan":
        faults.append(forbidden(_MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match:
        if options.send_initial_events is None:
            text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            faults.append(forbidden(_MATCH, text))
        if match != "NotOlderThan":
            faults.append(not_supported(_MATCH, match, ["NotOlderThan"]))
        if options.continue_token:
            faults.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return faults


@dataclass(slots=True)
class DeleteParameters:
    """`metav1.DeleteOptions` from the body or, without one, from the query."""

    grace_period_s: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: list[str] = field(default_factory=list)


def delete_options(parameters: DeleteParameters) -> Object:
    """The DeleteOptions as an object, for admission."""
    options: Object = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    if parameters.grace_period_s is not None:
        options["gracePeriodSeconds"] = parameters.grace_period_s
    known = {"uid": parameters.uid, "resourceVersion": parameters.resource_version}
    preconditions = {name: value for name, value in known.items() if value}
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
    """Checked delete options. Raises 400 and 422."""
    parameters = _from_body(body) if body is not None else _from_query(request)
    faults = []
    policy = parameters.propagation_policy
    if parameters.orphan_dependents is not None and policy is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        faults.append(invalid(Path("propagationPolicy"), policy, text))
    if policy is not None and policy not in ("Foreground", "Background", "Orphan"):
        known = ["Foreground", "Background", "Orphan", "nil"]
        faults.append(not_supported(Path("propagationPolicy"), policy, known))
    faults += _dry_run_faults(parameters.dry_run)
    if faults:
        raise errors.invalid(GroupKind(_META, "DeleteOptions"), "", faults)
    return parameters


def _from_query(request: Request) -> DeleteParameters:
    orphan = request.param("orphanDependents")
    return DeleteParameters(
        grace_period_s=parse_int(request, "gracePeriodSeconds"),
        propagation_policy=request.param("propagationPolicy") or None,
        orphan_dependents=parse_bool(orphan) if orphan else None,
        uid=request.param("uid"),
        resource_version=request.param("resourceVersion") if request.info.verb == "delete" else "",
        dry_run=request.query.get("dryRun", []),
    )


def _from_body(body: Any) -> DeleteParameters:
    if not isinstance(body, dict) or body.get("kind", "DeleteOptions") != "DeleteOptions":
        raise errors.bad_request("decoded object cannot be converted to DeleteOptions")
    preconditions = _typed(body, "preconditions", dict) or {}
    return DeleteParameters(
        grace_period_s=_typed(body, "gracePeriodSeconds", int),
        propagation_policy=_typed(body, "propagationPolicy", str),
        orphan_dependents=_typed(body, "orphanDependents", bool),
        uid=_typed(preconditions, "uid", str) or "",
        resource_version=_typed(preconditions, "resourceVersion", str) or "",
        dry_run=[str(item) for item in _typed(body, "dryRun", list) or []],
    )


def _typed(body: dict[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise errors.bad_request(
            f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {name} is of the wrong type'
        )
    return value
