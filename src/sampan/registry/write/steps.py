"""The order of a write: every write to the API server runs this list, from top to bottom.

A step has one function each for a creation, an update and a deletion, or none. An update whose object is absent
continues as a creation. The verbs supply only `Write.change`. Writes of the server itself (bootstrap, status) skip the
steps of requests. After a conflict the runner starts again from "load", to try another generated name from "name" (see
`runner.py`).
Source: apiserver pkg/endpoints/handlers/{create,update,patch,delete}.go, pkg/registry/generic/registry/store.go (1.36).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Final, NamedTuple

from sampan.registry.write import creation, deletion, loading, request, update
from sampan.registry.write.write import Write, WriteKind

Run = Callable[[Write], Awaitable[None] | None]
"""Function of a step. One that is declared to return None only computes: for large requests, it runs in a thread. The
others may return an awaitable, which the runner awaits.
"""


@dataclass(frozen=True, slots=True)
class WriteStep:
    """One step, with its functions for a creation, an update and a deletion."""

    name: str
    creation: Run | None = None
    update: Run | None = None
    deletion: Run | None = None


STEPS: Final[tuple[WriteStep, ...]] = (
    #    name                    creation                    update                deletion
    WriteStep("read",                 request.read,               request.read),
    WriteStep("decode",               request.decode,             request.decode),
    WriteStep("load",                 None,                       loading.load,         loading.load_existing),
    WriteStep("preconditions",        loading.check_creation,     loading.check_uid,    deletion.check_preconditions),
    WriteStep("change",               request.change,             request.change),
    WriteStep("convert",              request.convert,            request.convert),
    WriteStep("defaults",             request.default,            request.default),
    WriteStep("managed fields",       request.own_fields,         request.own_fields),
    WriteStep("mutating admission",   request.mutate,             request.mutate,       request.mutate),
    WriteStep("identity",             creation.identify,          update.identify),
    WriteStep("name",                 creation.give_name),
    WriteStep("prepare",              creation.prepare,           update.prepare),
    WriteStep("allocate",             creation.allocate,          update.allocate),
    WriteStep("validation",           creation.validate,          update.validate),
    WriteStep("authorize creation",   request.authorize_creation),
    WriteStep("validating admission", request.validate,           request.validate,     request.validate),
    WriteStep("outcome",              None,                       update.decide,        deletion.mark_deleted),
    WriteStep("encode",               creation.encode,            update.encode,        deletion.encode),
    WriteStep("store",                creation.insert,            update.replace,       deletion.remove),
)  # fmt: skip
"""All steps of all writes. The request is read once. The steps after that form an attempt, which is repeated after a
conflict.
"""

_OF_UPDATES: Final = frozenset({"load", "preconditions", "authorize creation"})
"""Steps that only an update needs. A create request loads nothing, and its creation is already authorized."""
_OF_REQUESTS: Final = frozenset(
    {
        "read",
        "decode",
        "convert",
        "defaults",
        "managed fields",
        "mutating admission",
        "authorize creation",
        "validating admission",
    }
)
"""Steps that the server's own writes skip."""

LEFT_OUT: Final[dict[WriteKind, frozenset[str]]] = {
    WriteKind.CREATE: _OF_UPDATES,
    WriteKind.UPDATE: frozenset(),
    WriteKind.APPLY: frozenset({"managed fields"}),  # The change does that: ownership decides what an apply changes.
    WriteKind.DELETE: frozenset(),
    WriteKind.OWN_CREATE: _OF_REQUESTS | _OF_UPDATES,
    WriteKind.OWN_UPDATE: _OF_REQUESTS,
    WriteKind.OWN_DELETE: _OF_REQUESTS,
}
"""Steps that a kind of write skips."""


class Ready(NamedTuple):
    """A step that is ready to run."""

    name: str
    run: Run
    waits: bool
    """True if `run` may return an awaitable."""


class WriteSteps(NamedTuple):
    """Steps of one kind of write."""

    once: tuple[Ready, ...]
    """Steps that run once, before the first attempt."""
    load: Ready | None
    """Step that begins an attempt; None: a creation loads nothing."""
    found: tuple[Ready, ...]
    """Other steps of an attempt, if the object exists."""
    absent: tuple[Ready, ...]
    """Other steps of an attempt, if the object does not exist."""


_CREATES: Final = (WriteKind.CREATE, WriteKind.OWN_CREATE)
_DELETES: Final = (WriteKind.DELETE, WriteKind.OWN_DELETE)


def plan_of(kind: WriteKind) -> WriteSteps:
    """Return the steps of a kind of write."""
    steps = [step for step in STEPS if step.name not in LEFT_OUT[kind]]
    names = [step.name for step in steps]
    if kind in _CREATES:
        first = names.index("name")
        return WriteSteps(_creations(steps[:first]), None, (), _creations(steps[first:]))
    first = names.index("load")
    if kind in _DELETES:
        found = [_ready(step.name, step.deletion) for step in steps if step.deletion is not None]
        return WriteSteps((), found[0], tuple(found[1:]), ())
    once, load, rest = steps[:first], steps[first], steps[first + 1 :]
    found = [_ready(step.name, step.update) for step in rest if step.update is not None]
    return WriteSteps(_creations(once), _ready(load.name, load.update), tuple(found), _creations(rest))


def _creations(steps: list[WriteStep]) -> tuple[Ready, ...]:
    return tuple(_ready(step.name, step.creation) for step in steps if step.creation is not None)


def _ready(name: str, run: Run | None) -> Ready:
    assert run is not None
    return Ready(name, run, iscoroutinefunction(run) or run.__annotations__["return"] is not None)


PLANS: Final = {kind: plan_of(kind) for kind in WriteKind}
"""Plan of each kind of write. It is computed once, so that no step needs a check at run time."""
