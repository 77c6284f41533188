"""Order of groups and versions. The first version of a group is the preferred one.

Source: apimachinery pkg/version/helpers.go, the group priorities of kube-apiserver (1.36).
"""

import re

_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {None: 2, "beta": 1, "alpha": 0}
CUSTOM_PRIORITY = 1000
"""Priority of groups of custom resources."""

GROUP_PRIORITIES = {
    "apiregistration.k8s.io": 20000,
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "internal.apiserver.k8s.io": 16000,
    "storagemigration.k8s.io": 15800,
}


CUSTOM_VERSION_PRIORITY = 100
_STAGE_PRIORITIES = {None: 15, "beta": 9, "alpha": 1}
_VERSION_PRIORITIES = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("events.k8s.io", "v1beta1"): 5,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("batch", "v2alpha1"): 9,
    ("resource.k8s.io", "v1"): 21,
}


def group_priority(group: str) -> int:
    """Return the groupPriorityMinimum of a group's APIServices."""
    return GROUP_PRIORITIES.get(group, CUSTOM_PRIORITY)


def version_priority(group: str, version: str, *, custom: bool) -> int:
    """Return the versionPriority of a group version's APIService."""
    if custom:
        return CUSTOM_VERSION_PRIORITY
    match = _VERSION.fullmatch(version)
    return _VERSION_PRIORITIES.get((group, version)) or _STAGE_PRIORITIES[match.group(2) if match else "alpha"]


def version_key(version: str) -> tuple[int, int, int, int, str]:
    """Return the sort key of a version: GA, beta, alpha, each with higher numbers first; then other names
    alphabetically.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (1, 0, 0, 0, version)
    major, stage, minor = match.groups()
    return (0, -_STAGES[stage], -int(major), -int(minor or 0), "")
