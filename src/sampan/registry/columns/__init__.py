"""Table columns of the built-in types: what `kubectl get` shows.

Source: pkg/printers/internalversion/printers.go (1.36).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sampan.core.object import Object
from sampan.registry.columns.access import access_tables
from sampan.registry.columns.age import Ages
from sampan.registry.columns.autoscaling import autoscaling_tables
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.columns.cluster import cluster_tables
from sampan.registry.columns.core import core_tables
from sampan.registry.columns.events import event_tables
from sampan.registry.columns.networking import networking_tables
from sampan.registry.columns.pods import pod_tables, row_conditions
from sampan.registry.columns.storage import storage_tables
from sampan.registry.columns.tables import Tables
from sampan.registry.columns.workloads import workload_tables

__all__ = [
    "DEFAULT_COLUMNS",
    "ROW_CONDITIONS",
    "builtin_columns",
]

DEFAULT_COLUMNS = (NAME, column("Created At", at("metadata", "creationTimestamp"), type="date"))
"""The table of a built-in type that has none of its own (roles, limit ranges, CustomResourceDefinitions ...)."""

RowConditions = Callable[[Object], Sequence[Mapping[str, str]]]
ROW_CONDITIONS: Final[Mapping[tuple[str, str], RowConditions]] = {("", "pods"): row_conditions}
"""What is said of whole rows, by group and resource."""

_WITHOUT_TABLE = (
    ("", "limitranges", "v1"),
    ("storage.k8s.io", "csistoragecapacities", "v1"),
    ("rbac.authorization.k8s.io", "roles", "v1"),
    ("rbac.authorization.k8s.io", "clusterroles", "v1"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "v1"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "v1beta1"),
    ("authentication.k8s.io", "tokenreviews", "v1"),
    ("authentication.k8s.io", "selfsubjectreviews", "v1"),
    ("authorization.k8s.io", "subjectaccessreviews", "v1"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "v1"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "v1"),
    ("authorization.k8s.io", "localsubjectaccessreviews", "v1"),
    ("", "bindings", "v1"),
)

Clock = Callable[[], float]
"""Seconds since 1970."""


def builtin_columns(clock: Clock = time.time) -> Tables:
    """The columns of every built-in type, by group, resource and version.

    Ages are counted until `clock()`.
    """
    ages = Ages(clock)
    tables: Tables = dict.fromkeys(_WITHOUT_TABLE, DEFAULT_COLUMNS)
    for build in (
        pod_tables,
        core_tables,
        event_tables,
        workload_tables,
        networking_tables,
        storage_tables,
        autoscaling_tables,
        access_tables,
        cluster_tables,
    ):
        tables.update(build(ages))
    return tables
