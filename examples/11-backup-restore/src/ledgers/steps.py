"""A reconciler that takes one step: it reads the object from the server, acts, and reports the state that it reached.

The report is the condition `Ready`, whose reason is the state. Its write leads to the next step.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from sampan.client import NotFound
from sampan.operator import Condition, JobRunner, Manager, Request, Result, RetryLater, find_condition, patch_condition

WAITING, COMPLETED, FAILED, REFUSED = "Waiting", "Completed", "Failed", "Refused"
ENDED: Final = (COMPLETED, FAILED, REFUSED, "Confirmed")
"""States after which nothing happens any more."""


class State(NamedTuple):
    """State of an object after a step."""

    is_ready: bool
    reason: str
    message: str = ""
    fields: dict[str, Any] = {}
    """Other fields of the status, by their names in JSON."""
    again_s: float | None = None
    """Time until the next step, if nothing changes before."""


async def find(manager: Manager, kind: Any, namespace: str, name: str) -> Any:
    """Return an object of the server; None if there is none. A cache could have a state before a step that is done."""
    try:
        return await manager.client.direct.resource(kind, namespace=namespace).get(name)
    except NotFound:
        return None


def reason_of(obj: Any) -> str:
    """Return the state that was reported last."""
    ready = find_condition(obj.status.conditions, "Ready") if obj.status else None
    return ready.reason if ready else ""


def reconciler(
    manager: Manager, kind: type[Any], step: Callable[[Any], Awaitable[State]]
) -> Callable[[Request], Awaitable[Result | None]]:
    """Return a reconciler of a kind, with the function that takes a step."""
    objects, events = manager.client.resource(kind, namespace=""), manager.event_recorder("ledgers")
    jobs = JobRunner(manager)

    async def reconcile(request: Request) -> Result | None:
        """Take a step. It may run at any time, and again after any failure."""
        found = await objects.find(request)
        if found and reason_of(found) in (*ENDED, "Switched"):
            # No claim can be deleted while the Pod of its Job exists.
            await jobs.remove(request.namespace, f"{kind.__name__.lower()}-{request.name}")
        elif found:
            found = await find(manager, kind, request.namespace, request.name)
        if not found or found.metadata.deletion_timestamp or reason_of(found) in ENDED:
            return None
        try:
            state = await step(found)
        except RetryLater as error:
            await report(found, State(False, WAITING, str(error)))
            raise
        await report(found, state)
        return Result(requeue_after_s=state.again_s)

    async def report(found: Any, state: State) -> None:
        ready = Condition(type="Ready", status="True" if state.is_ready else "False", reason=state.reason)
        ready.message = state.message
        fields = {**state.fields, "observedGeneration": found.metadata.generation}
        if await patch_condition(objects, found, ready, fields) and state.reason in (FAILED, REFUSED):
            events.warning(found, state.reason, state.message)

    return reconcile
