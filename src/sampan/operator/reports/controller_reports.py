"""`ControllerReports`: content of /debug/controllers.

    /debug/controllers                                     controllers with queues and rates
    /debug/controllers?controller=boat[&limit=N]           with the objects of a controller, failing ones first
    /debug/controllers?resource=boats.harbour.example.com&object=default/ada
                                                           last reconciles of an object, and those that have written it

Clients poll it: a response has an ETag, and a request with `If-None-Match` gets 304 while nothing has changed. Each
report is bounded.
"""

import asyncio
import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from sampan.core.clock import utc_now
from sampan.core.time import format_micro_time
from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.history.reconcile_history import ObjectHistory, ReconcileHistory
from sampan.operator.queue import WorkQueueMetrics
from sampan.operator.reports.records import attempt_as_json
from sampan.operator.reports.reported import Reported
from sampan.operator.request import Request
from sampan.wire import json

PATH: Final = "/debug/controllers"
LIMIT: Final = 200
LIMIT_MAX: Final = 1000
_WRITERS_MAX: Final = 20
_TICK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class ControllerReport:
    """Response to a request for a report."""

    code: int
    body: bytes = b""
    tag: str = ""
    """Value of the header ETag."""


class ControllerReports:
    """Reports of one process."""

    def __init__(
        self,
        history: ReconcileHistory,
        controllers: Callable[[], Iterable[Reported]],
        queues: WorkQueueMetrics,
    ) -> None:
        """`queues` may have queues that belong to no controller."""
        self.name = ""
        """Name of the process."""
        self.leads: Callable[[], bool] = lambda: True
        """Returns True if this process reconciles. Another replica does it otherwise."""
        self._history = history
        self._first = controllers
        self._loops: list[Reported] = []
        self._queues = queues
        self._instance = uuid.uuid4().hex[:12]

    def add(self, loop: Reported) -> None:
        """Report another loop of the process, next to the controllers."""
        self._loops.append(loop)

    def _controllers(self) -> list[Reported]:
        return [*self._first(), *self._loops]

    def report(self, query: str, etag: str = "") -> ControllerReport:
        """Return the response to a query. `etag`: the ETag that the client has."""
        parameters = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
        tag = self._tag()
        if etag == tag:
            return ControllerReport(304, tag=tag)
        limit = parameters.get("limit", str(LIMIT))
        if not (limit.isascii() and limit.isdecimal() and 0 < int(limit[:9]) <= LIMIT_MAX):
            return ControllerReport(400, f"limit must be a number from 1 to {LIMIT_MAX}\n".encode())
        moment = _Moment()
        content: dict[str, Any] = {
            "reporter": self.name,
            "leads": self.leads(),
            "instance": self._instance,
            "time": format_micro_time(moment.now),
        }
        if "object" in parameters:
            content |= self._object(parameters.get("resource", ""), parameters["object"], moment)
        elif "controller" in parameters:
            found = next((each for each in self._controllers() if each.name == parameters["controller"]), None)
            if found is None:
                return ControllerReport(404, b"there is no such controller\n")
            content |= self._objects(found, int(limit), moment)
        else:
            content["controllers"] = [*self._overview(moment), *self._other_queues()]
        return ControllerReport(200, json.encode(content), tag)

    def _tag(self) -> str:
        """Return a text that changes with the content. While anything is active, it changes with the time too."""
        now = asyncio.get_running_loop().time()
        controllers = self._controllers()
        depths = [(len(each.queue), each.queue.waiting, each.active) for each in controllers]
        busy = any(depth or active for depth, _, active in depths) or any(
            each.rate.per_second(now)[0] for each in controllers
        )
        tick = int(now / _TICK_S) if busy else 0
        depth = hash(tuple(depths)) & 0xFFFFFFFF
        return f'"{self._instance}-{self._history.revision}-{len(controllers)}-{self.leads():d}-{depth:x}-{tick}"'

    def _overview(self, moment: "_Moment") -> Iterator[dict[str, Any]]:
        known: dict[str, list[int]] = {}
        for (name, _), found in self._history:
            counts = known.setdefault(name, [0, 0])
            counts[0] += 1
            counts[1] += 1 if found.failures else 0
        for each in self._controllers():
            objects, failing = known.get(each.name, (0, 0))
            yield _controller(each, moment) | {"objects": objects, "failing": failing}

    def _other_queues(self) -> list[dict[str, Any]]:
        """Return the queues of the process that belong to no controller, for example the garbage collector's."""
        names = {each.name for each in self._controllers()}
        found = []
        for metrics in self._queues.queues():
            if metrics.name not in names:
                priorities, running = metrics.state()
                queue = {"depth": len(list(priorities)), "processing": len(list(running))}
                found.append({"name": metrics.name, "queue": queue, "total": sum(metrics.work.counts)})
        return found

    def _objects(self, controller: Reported, limit: int, moment: "_Moment") -> dict[str, Any]:
        found = [(request, known) for (name, request), known in self._history if name == controller.name]
        counts = {"objects": len(found), "failing": sum(1 for _, known in found if known.failures)}
        return {
            "controllers": [_controller(controller, moment) | counts],
            "total": len(found),
            "objects": [_object(controller, request, known, moment, 1) for request, known in found[:limit]],
        }

    def _object(self, resource: str, key: str, moment: "_Moment") -> dict[str, Any]:
        controllers = {each.name: each for each in self._controllers()}
        request = _request_of(key)
        reconciled = []
        for each in controllers.values():
            known = self._history.of((each.name, request))
            if known is None and (each.is_paused(request) or request in each.queue.processing):
                known = ObjectHistory()
            if known is not None and each.resource in ("", resource):
                reconciled.append(_object(each, request, known, moment, len(known.records)))
        writers = [
            (record.started, name, other, record)
            for (name, other), known in self._history
            for record in known.records
            if any(write.resource == resource and write.key == key for write in record.writes)
        ]
        writers.sort(key=lambda each: -each[0])
        return {
            "reconciled": reconciled,
            "written": [
                _writer(controllers.get(name), name, other, record, moment)
                for _, name, other, record in writers[:_WRITERS_MAX]
            ],
        }


class _Moment:
    """Now, by both clocks."""

    def __init__(self) -> None:
        self.now = utc_now()
        self.loop_now = asyncio.get_running_loop().time()

    def text(self, at: float) -> str:
        """Return a time of the loop's clock as text."""
        return format_micro_time(self.now - dt.timedelta(seconds=self.loop_now - at))


def _request_of(key: str) -> Request:
    namespace, _, name = key.rpartition("/")
    return Request(namespace, name)


def _controller(controller: Reported, moment: _Moment) -> dict[str, Any]:
    queue = controller.queue
    oldest = queue.oldest_due_at()
    rate, errors = controller.rate.per_second(moment.loop_now)
    return {
        "name": controller.name,
        "resource": controller.resource,
        "workers": controller.workers,
        "active": controller.active,
        "queue": {
            "depth": len(queue),
            "waiting": queue.waiting,
            "processing": len(queue.processing),
            "oldestSeconds": None if oldest is None else round(max(0.0, moment.loop_now - oldest), 3),
        },
        "perSecond": round(rate, 4),
        "errorsPerSecond": round(errors, 4),
        "total": controller.rate.total,
        "errors": controller.rate.failed,
    }


def _object(
    controller: Reported, request: Request, known: ObjectHistory, moment: _Moment, records: int
) -> dict[str, Any]:
    due = controller.queue.due_at(request)
    running = controller.queue.running_since(request)
    last = list(known.records)[-records:]
    return {
        "controller": controller.name,
        "resource": controller.resource,
        "object": request.key,
        "total": known.total,
        "failures": known.failures,
        "nextDue": None if due is None else moment.text(due),
        "pausable": controller.pause is not None,
        "unpausable": "" if controller.pause is not None else "off" if controller.names_objects else "kind",
        "paused": controller.is_paused(request),
        "runningSince": None if running is None else moment.text(running),
        "reconciles": [attempt_as_json(record, moment.text) for record in reversed(last)],
    }


def _writer(
    controller: Reported | None, name: str, request: Request, record: ReconcileAttempt, moment: _Moment
) -> Mapping[str, Any]:
    resource = "" if controller is None else controller.resource
    return {
        "controller": name,
        "resource": resource,
        "object": request.key,
        "reconcile": attempt_as_json(record, moment.text),
    }
