"""`Recorder`: records the steps of one request, in order.

All time belongs to a step: each begins at the end of the step before. The time of the observation is subtracted. Steps
that are useless to a reader are not shown; their time counts towards the next step.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from sampan.core.errors import StatusError
from sampan.patch.copying import copy_json
from sampan.registry.write.write import Write
from sampan.server.admission.chain import Attributes
from sampan.server.admission.webhook.mutating import PATCH_ANNOTATION
from sampan.server.request import Request
from sampan.server.trace.changes import Operation, changes

_SHOWN: Final = frozenset({"decode", "load", "defaults", "managed fields", "prepare", "allocate", "validation"})
"""Steps that a trace shows. A trace also shows the change, under the name of the change, and the admission plug-ins."""

Look = Callable[[], Any]
"""Function that returns the current object of a step."""


@dataclass(slots=True)
class TraceStep:
    """One step. `changes` is a JSON patch of the object, in the version that the step works in."""

    name: str
    detail: str = ""
    """Name of the plug-in, for an admission step."""
    took_s: float = 0.0
    changes: list[Operation] = field(default_factory=list)
    error: str = ""
    """Error that ended the request in this step."""
    webhooks: list[dict[str, Any]] = field(default_factory=list)
    """Webhooks that changed the object, in order: `webhook` is the name, `patch` the JSON patch of its response."""

    def document(self) -> dict[str, Any]:
        """Return the step as JSON, without empty fields."""
        fields: dict[str, Any] = {
            "name": self.name,
            "detail": self.detail,
            "changes": self.changes,
            "error": self.error,
        }
        fields["webhooks"] = self.webhooks
        return {name: value for name, value in fields.items() if value} | {
            "tookMicroseconds": round(self.took_s * 1e6, 1)
        }


class Recorder:
    """Collects steps. A nested step (such as defaults within a plug-in) belongs to the outer one."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter, request: Request | None = None) -> None:
        self.steps: list[TraceStep] = []
        self._clock = clock
        self._last = clock()
        self._observing_s = 0.0
        self._inside = False
        self._request = request

    def step(self, name: str, write: Write) -> AbstractContextManager[Any]:
        """Observe a step of a write."""
        if name == "change" and write.change.name:
            return self.part(write.change.name, lambda: _changing(write))
        if name == "read":
            return self._reading()
        return self.part(name, lambda: write.desired or None) if name in _SHOWN else nullcontext()

    @contextmanager
    def plugin(self, kind: str, name: str, attributes: Attributes) -> Iterator[TraceStep]:
        """Observe an admission plug-in, and the webhooks that it calls."""
        title = "mutating admission" if kind == "admit" else "validating admission"
        known = set(attributes.body_annotations)
        with self.part(title + (", again" if attributes.is_reinvocation else ""), lambda: attributes.obj, name) as step:
            try:
                yield step
            finally:
                step.webhooks = _patches(attributes.body_annotations, known)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self.part("read", _nothing) as step:
            yield
            if self._request is not None:
                step.detail = f"{self._request.body_size_bytes} bytes"

    @contextmanager
    def part(self, name: str, look: Look, detail: str = "") -> Iterator[TraceStep]:
        """Observe a step that changes the object that `look` returns. An error in it is recorded and propagates."""
        step = TraceStep(name, detail)
        if self._inside:
            yield step
            return
        before = self._seen(look)
        self._inside = True
        try:
            yield step
        except Exception as error:
            step.error = _text(error)
            raise
        finally:
            self._inside = False
            self._end(step)
            after = self._seen(look)
            step.changes = changes(before, after) if before is not None and after is not None else []
            self._forget()

    def end(self, name: str, detail: str = "") -> None:
        """Add a final step with the time since the last one."""
        step = TraceStep(name, detail)
        self._end(step)

    @property
    def total_s(self) -> float:
        """Return the total time of all steps."""
        return sum(step.took_s for step in self.steps)

    def _end(self, step: TraceStep) -> None:
        now = self._clock()
        step.took_s = now - self._last - self._observing_s
        self._last, self._observing_s = now, 0.0
        self.steps.append(step)

    def _seen(self, look: Look) -> Any:
        began = self._clock()
        copy = copy_json(look())
        self._observing_s += self._clock() - began
        return copy

    def _forget(self) -> None:
        """Start the next step now, so that the time of the comparison is not counted."""
        self._last, self._observing_s = self._clock(), 0.0


def _changing(write: Write) -> Any:
    """Return the desired object. Before it exists, return the stored one in the request's version, or the applied
    fields.
    """
    if write.desired or write.old is None:
        return write.desired or write.change.given()
    assert write.endpoint is not None
    return write.endpoint.from_hub(write.copy_of_old())


def _text(error: Exception) -> str:
    """Return the faults of an invalid object, or the message of the error."""
    if not isinstance(error, StatusError):
        return str(error)
    causes = (error.details or {}).get("causes", ())
    return "; ".join(f"{cause['field']}: {cause['message']}" for cause in causes) or error.message


def _patches(annotations: Mapping[str, str], known: Set[str]) -> list[dict[str, Any]]:
    """Return the new patches of webhooks, which admission annotates for audit events."""
    added = [value for key, value in annotations.items() if key not in known and key.startswith(PATCH_ANNOTATION)]
    found = [orjson.loads(value) for value in added]
    return [{"webhook": each["webhook"], "patch": each["patch"]} for each in found]


def _nothing() -> None:
    return None
