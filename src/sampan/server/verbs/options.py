"""Query parameters and DeleteOptions, validated.

Source: apimachinery pkg/apis/meta/v1/validation, meta/internalversion/validation (1.36).
"""

from dataclasses import dataclass

from sampan.core import errors
from sampan.core.field import FieldError, Path, forbidden, not_supported, required
from sampan.core.gvk import GroupKind
from sampan.core.numbers.integers import parse_integer
from sampan.core.validation.metadata import FIELD_MANAGER_LENGTH_MAX, validate_field_manager
from sampan.patch.media_types import APPLY_PATCH
from sampan.registry.write.changes.options import WriteOptions
from sampan.server.request import Request

_META = "meta.k8s.io"
_VALIDATIONS = frozenset({"", "Ignore", "Warn", "Strict"})


def parse_bool(request: Request, name: str) -> bool | None:
    """Parse a boolean as Go's query conversion does: any value except the false words is true."""
    return request.wire.param(name).lower() not in ("false", "0") if name in request.wire.query else None


def parse_int(request: Request, name: str) -> int | None:
    """Parse an integer parameter. Raises 400."""
    if name not in request.wire.query:
        return None
    try:
        return parse_integer(request.wire.param(name))
    except ValueError as error:
        raise errors.bad_request(str(error)) from None


def write_options(request: Request, kind: str, patch_type: str = "") -> WriteOptions:
    """Return the options of a write. Raises 422 (`CreateOptions.meta.k8s.io "" is invalid: …`)."""
    if not request.wire.query and not patch_type:
        return WriteOptions(field_manager=manager_of_user_agent(request))
    options = WriteOptions(
        dry_run=bool(request.wire.query.get("dryRun")),
        field_manager=request.wire.param("fieldManager"),
        field_validation=request.wire.param("fieldValidation"),
        force=parse_bool(request, "force"),
    )
    faults: list[FieldError] = []
    if patch_type == APPLY_PATCH:
        if not options.field_manager:
            faults.append(required(Path("fieldManager"), "is required for apply patch"))
    elif patch_type and options.force is not None:
        faults.append(forbidden(Path("force"), "may not be specified for non-apply patch"))
    faults += validate_field_manager(options.field_manager, Path("fieldManager"))
    faults += dry_run_faults(request.wire.query.get("dryRun", []))
    if options.field_validation not in _VALIDATIONS:
        faults.append(not_supported(Path("fieldValidation"), options.field_validation, _VALIDATIONS))
    if faults:
        raise errors.invalid(GroupKind(_META, kind), "", faults)
    options.field_validation = options.field_validation or "Warn"
    if not options.field_manager:
        options.field_manager = manager_of_user_agent(request)
    return options


def dry_run_faults(values: list[str]) -> list[FieldError]:
    """Return an error if a value of dryRun is not `All`."""
    if all(value == "All" for value in values):
        return []
    return [not_supported(Path("dryRun"), values, ["All"])]


def manager_of_user_agent(request: Request) -> str:
    """Return the default field manager of a client: its user agent up to the first slash."""
    agent = request.headers.get("user-agent", "").split("/", 1)[0]
    if not agent.isprintable():
        agent = "".join(char for char in agent if char.isprintable())
    return agent if len(agent) <= FIELD_MANAGER_LENGTH_MAX else agent[:FIELD_MANAGER_LENGTH_MAX]


@dataclass(slots=True)
class ListOptions:
    """Options of list, watch and deletecollection."""

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
    """Return validated list options. Raises 400 (syntax) and 422 (combinations)."""
    query = request.wire.query
    if not query:
        return ListOptions()
    options = ListOptions(
        label_selector=request.wire.param("labelSelector"),
        field_selector=request.wire.param("fieldSelector"),
        resource_version=request.wire.param("resourceVersion"),
        resource_version_match=request.wire.param("resourceVersionMatch"),
        limit=parse_int(request, "limit") or 0,
        continue_token=request.wire.param("continue"),
        watch=request.info.verb == "watch",
        allow_watch_bookmarks=bool(parse_bool(request, "allowWatchBookmarks")),
        send_initial_events=parse_bool(request, "sendInitialEvents"),
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
    """Request the initial state for a watch without a revision, as if the client had requested it.

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
