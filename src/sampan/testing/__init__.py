"""Tests of operators and control loops: a cluster in the process, virtual time, fakes."""

from sampan.testing.cluster import Cluster, NeedsVirtualTime, NotSettled
from sampan.testing.cluster_options import ClusterOptions, State
from sampan.testing.control_loops.set_up import quiet_informers
from sampan.testing.expectations import NotMet
from sampan.testing.jobs import end_job
from sampan.testing.observations.leaks import Leak
from sampan.testing.operators.kopf_operator import KopfOperator, kopf_operator
from sampan.testing.operators.running import Running
from sampan.testing.predicates import (
    Predicate,
    exists,
    field,
    has_condition,
    has_status,
    is_gone,
    matches,
    owned_by,
)
from sampan.testing.requests import Interceptor, RequestRecord, Requests, SentRequest, ServerWarning
from sampan.testing.time.virtual_time import Deadlock, VirtualTimeLoop, elapsed, run_virtual, settle, virtual_time

__all__ = [
    "Cluster",
    "ClusterOptions",
    "Deadlock",
    "Interceptor",
    "KopfOperator",
    "Leak",
    "NeedsVirtualTime",
    "NotMet",
    "NotSettled",
    "Predicate",
    "RequestRecord",
    "Requests",
    "Running",
    "SentRequest",
    "ServerWarning",
    "State",
    "VirtualTimeLoop",
    "elapsed",
    "end_job",
    "exists",
    "field",
    "has_condition",
    "has_status",
    "is_gone",
    "kopf_operator",
    "matches",
    "owned_by",
    "quiet_informers",
    "run_virtual",
    "settle",
    "virtual_time",
]
