"""`Recorder`: the steps of one request, one after the other.

Every moment belongs to one step: a step begins where the one before it ended, so what lies between two observed calls
(parsing the body, say) counts to the later one. Only the time that observing takes is left out.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sampan.core.errors import StatusError
from sampan.patch.copying import copy_json
from sampan.server.trace.changes import Operation, changes

Look = Callable[[], Any]
"""Gives the object that a step works on, as it is at the moment."""


@dataclass(slots=True)
class Step:
    """One step. `changes` are a JSON patch of the object in the version that the step works in."""

    name: str
    detail: str = ""
    """Of an admission step: the plug-in."""
    took_s: float = 0.0
    changes: list[Operation] = field(default_factory=list)
    error: str = ""
    """Why the request ended here."""

    def document(self) -> dict[str, Any]:
        """The step as JSON; what is empty is left out."""
        said = {"name": self.name, "detail": self.detail, "changes": self.changes, "error": self.error}
        return {name: value for name, value in said.items() if value} | {
            "tookMicroseconds": round(self.took_s * 1e6, 1)
        }


class Recorder:
    """Collects steps. A step within a step (a plug-in that sets defaults again) belongs to the outer one."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.steps: list[Step] = []
        self._clock = clock
        self._last = clock()
        self._observing_s = 0.0
        self._inside = False

    @contextmanager
    def step(self, name: str, look: Look, detail: str = "") -> Iterator[Step]:
        """A step that changes what `look` gives. An error that it raises is recorded and goes on."""
        step = Step(name, detail)
        if self._inside:
            yield step
            return
        before = self._seen(look)
        self._inside = True
        try:
            yield step
        except Exception as error:
            step.error = error.message if isinstance(error, StatusError) else str(error)
            raise
        finally:
            self._inside = False
            self._end(step)
            after = self._seen(look)
            step.changes = changes(before, after) if before is not None and after is not None else []
            self._forget()

    def end(self, name: str, detail: str = "") -> None:
        """What was left to do after the last step."""
        step = Step(name, detail)
        self._end(step)

    @property
    def total_s(self) -> float:
        """What all steps took together."""
        return sum(step.took_s for step in self.steps)

    def _end(self, step: Step) -> None:
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
        """Comparing is observing too: the next step begins now."""
        self._last, self._observing_s = self._clock(), 0.0
