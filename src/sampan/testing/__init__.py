"""Tests of operators and control loops: a cluster in the process, virtual time, fakes."""

from sampan.testing.cluster import Cluster, ClusterOptions, NeedsVirtualTime, NotSettled, State
from sampan.testing.operators import Running
from sampan.testing.requests import Interceptor, RequestRecord, Requests, SentRequest
from sampan.testing.virtual_time import Deadlock, VirtualTimeLoop, elapsed, run_virtual, settle, virtual_time

__all__ = [
    "Cluster",
    "ClusterOptions",
    "Deadlock",
    "Interceptor",
    "NeedsVirtualTime",
    "NotSettled",
    "RequestRecord",
    "Requests",
    "Running",
    "SentRequest",
    "State",
    "VirtualTimeLoop",
    "elapsed",
    "run_virtual",
    "settle",
    "virtual_time",
]
