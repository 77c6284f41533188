"""`Plan`: faults as data, and the YAML file that contains them.

version: 1
seed: 7
faults:
- name: lose the response to the first Secret
  which: {verbs: [create], resource: secrets, name: "web-*"}
  when: after
  what: {lostResponse: {}}
"""

from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from sampan.wire.yaml import decode_file_strict

VERSION: Final = 1
"""Version of the file format that this Sampan reads."""
REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""Default reason of each code. A code without an entry has no reason."""
FAULTS_MAX: Final = 1000
_FILE_BYTES_MAX: Final = 1 << 20


class PlanError(ValueError):
    """The plan cannot be used. The text is one line: the file, the field, the fault, and the correction."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Part of a plan. Unknown fields are errors."""


class ErrorResponse(_Part, frozen=True):
    """Send an error with a Status body. `reason` defaults to the usual one of the code; 409 can be AlreadyExists."""

    code: int
    reason: str = ""
    message: str = "injected fault"
    retry_after_seconds: int = 0


class Latency(_Part, frozen=True):
    """Wait `seconds`, and up to `jitter_seconds` more, chosen with the seed of the plan."""

    seconds: float
    jitter_seconds: float = 0.0


class LostResponse(_Part, frozen=True):
    """Close the connection without a response."""


class Crash(_Part, frozen=True):
    """Call the crash function of the injector: `sampan test` kills the operator with SIGKILL, and starts it again.

    The request gets no response.
    """


class EndStream(_Part, frozen=True):
    """End a watch after `after_events` events, with an ERROR event if `error` is set; 410 makes clients list again."""

    after_events: int = 0
    error: ErrorResponse | None = None


class What(_Part, frozen=True):
    """Action of a fault: exactly one field is set."""

    error: ErrorResponse | None = None
    latency: Latency | None = None
    lost_response: LostResponse | None = None
    crash: Crash | None = None
    end_stream: EndStream | None = None

    @property
    def action(self) -> ErrorResponse | Latency | LostResponse | Crash | EndStream:
        """The action in the field that is set."""
        for field in self.__struct_fields__:
            found: ErrorResponse | Latency | LostResponse | Crash | EndStream | None = getattr(self, field)
            if found is not None:
                return found
        raise AssertionError("an action without fields")  # `check` has refused it


class Which(_Part, frozen=True):
    """Selection of requests: all set fields must match. Texts may contain `*` and `?`.

    `object` maps field paths (`spec.replicas`) to their values. It is compared with the object in a create or an
    update, and otherwise with the stored object: as it was for `when: before`, as it is now for `when: after`.
    `changed` lists paths of which the write must have changed one, so it needs `when: after`.
    """

    verbs: tuple[str, ...] = ()
    resource: str = "*"
    """Plural with its group, as in `deployments.apps`; `secrets` is in the core group."""
    subresource: str | None = None
    """Subresource; "" selects requests without one. None selects both."""
    namespace: str = "*"
    name: str = "*"
    user: str = "*"
    user_agent: str = "*"
    object: dict[str, Any] = {}
    changed: tuple[str, ...] = ()
    occurrence: int = 1
    """Number of the first matching request that gets the fault, from 1."""
    times: int = 1
    """Number of consecutive matching requests that get the fault, starting with `occurrence`; 0: all."""


class Fault(_Part, frozen=True):
    """One fault. `optional`: a run in which it does not occur is valid too."""

    what: What
    which: Which = Which()
    when: Literal["before", "after"] = "before"
    name: str = ""
    optional: bool = False

    @property
    def title(self) -> str:
        """Name for messages."""
        which = self.which
        verbs = "/".join(which.verbs) or "any verb"
        return self.name or f"{type(self.what.action).__name__} {self.when} {verbs} of {which.resource} {which.name}"


class Plan(_Part, frozen=True):
    """Faults of one run. Where several select the same request, the first one in the list occurs."""

    version: int = VERSION
    seed: int = 0
    faults: tuple[Fault, ...] = ()


def read_plan(path: Path) -> Plan:
    """Read a plan file. Raises `PlanError`, `OSError`."""
    with path.open("rb") as file:
        content = file.read(_FILE_BYTES_MAX + 1)
    if len(content) > _FILE_BYTES_MAX:
        raise PlanError(f"{path}: a plan has at most {_FILE_BYTES_MAX} bytes")
    return parse_plan(content, str(path))


def parse_plan(content: bytes, source: str = "plan") -> Plan:
    """Read a plan from YAML. `source` is its name in messages. Raises `PlanError`."""
    try:
        value, duplicates = decode_file_strict(content)
    except ValueError as error:
        raise PlanError(f"{source}: not YAML: {' '.join(str(error).split())}") from error
    if duplicates:
        raise PlanError(f"{source}: {duplicates[0]}")
    if not isinstance(value, dict):
        raise PlanError(f"{source}: must be a mapping with version and faults")
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        found = "no version" if version is None else f"version {version!r}"
        raise PlanError(
            f"{source}: has {found}, but this Sampan reads version {VERSION}: add `version: {VERSION}`, or run the "
            "plan with the Sampan that wrote it"
        )
    try:
        plan = msgspec.convert(value, Plan)
    except msgspec.ValidationError as error:
        raise PlanError(f"{source}: {_field_first(str(error))}") from error
    check(plan, source)
    return plan


def check(plan: Plan, source: str = "plan") -> None:
    """Raise `PlanError` for values that do not fit together."""
    if not plan.faults:
        raise PlanError(f"{source}: faults: required: a plan has at least one fault")
    if len(plan.faults) > FAULTS_MAX:
        raise PlanError(f"{source}: faults: at most {FAULTS_MAX} are allowed")
    for number, fault in enumerate(plan.faults):
        fault_text = _fault_of(fault)
        if fault_text:
            raise PlanError(f"{source}: faults[{number}].{fault_text}")


def _fault_of(fault: Fault) -> str:
    given = [name for name in fault.what.__struct_fields__ if getattr(fault.what, name) is not None]
    if len(given) != 1:
        return "what: set exactly one of error, latency, lostResponse, crash, endStream"
    if fault.which.occurrence < 1 or fault.which.times < 0:
        return "which: occurrence must be at least 1, and times at least 0"
    if fault.which.changed and fault.when == "before":
        return "which.changed: needs `when: after`: nothing has changed before the write"
    return _fault_of_action(fault)


def _fault_of_action(fault: Fault) -> str:
    what = fault.what
    if what.latency and not (0 <= what.latency.seconds <= 3600 and 0 <= what.latency.jitter_seconds <= 3600):
        return "what.latency: must be between 0 and 3600 seconds"
    if what.end_stream and set(fault.which.verbs) != {"watch"}:
        return "what.endStream: needs `which: {verbs: [watch]}`: only watches are streams"
    if what.end_stream and fault.when == "before":
        return "what.endStream: needs `when: after`: the stream must have begun"
    for error in (what.error, what.end_stream and what.end_stream.error):
        if error and not 400 <= error.code <= 599:
            return "what.error.code: must be between 400 and 599"
    return ""


def _field_first(text: str) -> str:
    """Return a message of msgspec with its field in front: `faults[0].when: ...`."""
    message, found, path = text.rpartition(" - at `$.")
    return f"{path.rstrip('`')}: {message}" if found else text
