"""`PlannedFault`: one fault at one moment. Moments are writes, so a plan means the same in every run.

A plan is stored in a replay file:

    version: 1
    scenario: recreate
    fault: crash-after
    at: {actor: operator, verb: delete, resource: statefulsets, namespace: default, name: s, occurrence: 1}
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import yaml

from sampan.testing.faults.points import AWAIT

VERSION: Final = 1
CRASH_BEFORE, CRASH_AFTER, REFUSED, LOST = "crash-before", "crash-after", "refused", "lost-response"
SLOW, DOWN = "slow-response", "down"
STALE, HIDDEN = "stale", "hidden"
CANCELLED, LOST_LEASE = "cancelled", "lost-lease"
DRIFT_DELETED, DRIFT_CHANGED = "drift-deleted", "drift-changed"
ABSENT, VANISHED, REMOVED = "absent", "vanished", "removed"
CONFLICT, OVERTAKEN = "conflict", "overtaken"
SERVER_ERROR, TIMEOUT, LATE, OUTAGE = "server-error", "timeout", "late", "outage"
WITH_END: Final = {
    STALE: "when",
    HIDDEN: "until",
    DOWN: "until",
    VANISHED: "after",
    REMOVED: "after",
    OVERTAKEN: "and again when",
}
"""Faults with a second write, and the word between both in the text of a plan."""
DELETIONS: Final = (VANISHED, REMOVED)
"""Faults that delete an object which the operator needs."""
FAULTS: Final = {
    CRASH_BEFORE: "the operator crashes before {}",
    CRASH_AFTER: "the operator crashes after {}",
    REFUSED: "the server cannot be reached for {}",
    LOST: "the response to {} is lost",
    SLOW: "the response to {} is 20 s late",
    DOWN: "the operator crashes after {}, and is down",
    STALE: "the operator restarts, with its view from before {}",
    HIDDEN: "the operator does not see {}",
    CANCELLED: "the operator is stopped at {}",
    LOST_LEASE: "another candidate takes the lease at {}",
    DRIFT_DELETED: "another actor deletes the object of {}",
    DRIFT_CHANGED: "another actor changes the object of {}",
    ABSENT: "the object of {} is absent for the first 30 s",
    VANISHED: "the object of {} is deleted for 30 s",
    REMOVED: "the object of {} is deleted for good",
    CONFLICT: "another client changes the object just before {}",
    OVERTAKEN: "the user's next change of the object comes just before {}",
    SERVER_ERROR: "the server has an internal error in {}",
    TIMEOUT: "the server does not respond to {} within 30 s",
    LATE: "the operator sees {} 5 s late",
    OUTAGE: "the server cannot be reached for 20 s from {} on",
}


class ReplayError(ValueError):
    """A replay file cannot be used. The message names the change that it needs."""


@dataclass(frozen=True, slots=True)
class WriteId:
    """A write: its sender and its object. `occurrence` counts equal writes, from 1.

    A call of an external system is a write with the verb `call`, and reads have their verbs. An await has the verb
    `await`: its resource is a controller, its name that of the reconciled object.
    """

    actor: str
    verb: str
    resource: str
    namespace: str
    name: str
    occurrence: int

    @property
    def place(self) -> tuple[str, str, str]:
        """Resource without its subresource, namespace and name."""
        return self.resource.partition("/")[0], self.namespace, self.name

    def __str__(self) -> str:
        if self.verb == AWAIT:
            return f"await {self.occurrence} of the reconciles of {self.name} by controller {self.resource}"
        times = f" (number {self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.verb} {self.resource} {self.name or 'with a generated name'} by {self.actor}{times}"


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One fault. `until` is a later write: the restart of `stale`, the end of `hidden` and of `down`.

    An object of `vanished` and `removed` is deleted after `until`, which may be a read of it.
    """

    fault: str
    at: WriteId
    until: WriteId | None = None
    without: tuple[WriteId, ...] = ()
    """Writes of the user that are left out; see `shrink`."""

    def __str__(self) -> str:
        end = WITH_END.get(self.fault, "")
        text = FAULTS[self.fault].format(self.at) + (f", {end} {self.until} is done" if self.until else "")
        return text + (f", without {', '.join(map(str, self.without))}" if self.without else "")


def replay_text(scenario: str, plan: PlannedFault) -> str:
    """Return the text of a replay file."""
    document: dict[str, Any] = {"version": VERSION, "scenario": scenario, "fault": plan.fault, "at": asdict(plan.at)}
    if plan.until is not None:
        document["until"] = asdict(plan.until)
    if plan.without:
        document["without"] = [asdict(each) for each in plan.without]
    return yaml.safe_dump(document, sort_keys=False)


def read_replay(text: str) -> tuple[str, PlannedFault]:
    """Return the scenario's name and the plan of a replay file. Raises `ReplayError`."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ReplayError(f"the replay file is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, Mapping) or document.get("version") != VERSION:
        found = document.get("version") if isinstance(document, Mapping) else document
        raise ReplayError(f"replay files have version: {VERSION}, not {found!r}: explore again to get a new file")
    fault = document.get("fault")
    if fault not in FAULTS:
        raise ReplayError(f"fault: {fault!r} is unknown: use one of {', '.join(FAULTS)}")
    until = _write(document["until"], "until") if document.get("until") is not None else None
    if (until is None) == (fault in WITH_END):
        raise ReplayError(f"until: {'needed for' if until is None else 'not allowed for'} fault {fault}")
    left_out = document.get("without") or []
    if not isinstance(left_out, list):
        raise ReplayError(f"without: {left_out!r} is not a list of writes")
    without = tuple(_write(each, f"without[{number}]") for number, each in enumerate(left_out))
    return str(document.get("scenario", "")), PlannedFault(fault, _write(document.get("at"), "at"), until, without)


def _write(value: Any, path: str) -> WriteId:
    names = [each.name for each in fields(WriteId)]
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise ReplayError(f"{path}: needs exactly the keys {', '.join(names)}")
    texts = {name: value[name] for name in names if name != "occurrence"}
    wrong = next((name for name, each in texts.items() if not isinstance(each, str)), None)
    if wrong is not None:
        raise ReplayError(f"{path}.{wrong}: {value[wrong]!r} is not a text")
    occurrence = value["occurrence"]
    if not isinstance(occurrence, int) or isinstance(occurrence, bool) or occurrence < 1:
        raise ReplayError(f"{path}.occurrence: {occurrence!r} is not a positive number")
    return WriteId(**texts, occurrence=occurrence)
