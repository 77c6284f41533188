"""Faults at the request seam of a server: error responses, latency, lost responses, broken watches, crashes.

Usage, by hand in a test or from a plan file (`read_plan`):

    crash = Fault(which=Which(verbs=("create",), resource="statefulsets.apps"), what=What(crash=Crash()), when="after")
    injector = FaultInjector(Plan(faults=(crash,)), objects=cluster.reader.get, crash=kill_the_operator)
    api = ApiServer(cluster, ..., settings=ApiServerSettings(faults=injector.filter))

A fault is **which × what × when**: `Which` selects requests, `What` is the action, and `when` is before or after the
verb. The injector is one filter between authorization and the verb, so the user and the meaning of the request are
known. Every action takes its time from the event loop, so it also works in virtual time. The seam is the server's side
of a request or of a watch. Faults of caches, clocks and processes are not requests, so they are not part of a plan.
"""

from sampan.testing.faults.drift import change_a_field
from sampan.testing.faults.injector import FaultInjector, Fired
from sampan.testing.faults.lease import give_lease, take_lease
from sampan.testing.faults.plan import (
    Crash,
    EndStream,
    ErrorResponse,
    Fault,
    Latency,
    LostResponse,
    Plan,
    PlanError,
    What,
    Which,
    read_plan,
)
from sampan.testing.faults.points import ExternalError, Points, Suspension, external, fault_points

__all__ = [
    "Crash",
    "EndStream",
    "ErrorResponse",
    "ExternalError",
    "Fault",
    "FaultInjector",
    "Fired",
    "Latency",
    "LostResponse",
    "Plan",
    "PlanError",
    "Points",
    "Suspension",
    "What",
    "Which",
    "change_a_field",
    "external",
    "fault_points",
    "give_lease",
    "read_plan",
    "take_lease",
]
