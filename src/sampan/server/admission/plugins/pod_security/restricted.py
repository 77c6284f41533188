"""Checks of the level restricted: they enforce hardening best practices.

Source: k8s.io/pod-security-admission policy/check_*.go (1.36).
"""

from typing import Final

from sampan.core.object import Object
from sampan.server.admission.plugins.pod_security.baseline import SECCOMP, proc_mount, wrong_seccomp
from sampan.server.admission.plugins.pod_security.check import (
    Check,
    Violation,
    counted,
    has_user_namespace,
    is_windows,
    named,
    quoted,
    security,
    setters,
)
from sampan.server.admission.plugins.pod_security.policy import RESTRICTED
from sampan.server.admission.pods import containers

_NOT_ROOT: Final = "runAsNonRoot != true"
_VOLUMES: Final = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
_RESTRICTED_VOLUMES: Final = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
)


def _privilege_escalation(metadata: Object, spec: Object) -> Violation | None:
    bad = [each["name"] for each in containers(spec) if security(each).get("allowPrivilegeEscalation") is not False]
    if not bad:
        return None
    text = f"{named(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", text)


def _privilege_escalation_25(metadata: Object, spec: Object) -> Violation | None:
    return None if is_windows(spec) else _privilege_escalation(metadata, spec)


def _capabilities(metadata: Object, spec: Object) -> Violation | None:
    keeping, adding, forbidden = [], [], set()
    for container in containers(spec):
        capabilities = security(container).get("capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or ()):
            keeping.append(container["name"])
        added = set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}
        if added:
            adding.append(container["name"])
            forbidden |= added
    texts = [f'{named(keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    if adding:
        what = quoted(sorted(forbidden))
        texts.append(f"{named(adding)} must not include {what} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(texts)) if texts else None


def _capabilities_25(metadata: Object, spec: Object) -> Violation | None:
    return None if is_windows(spec) else _capabilities(metadata, spec)


def _volumes(metadata: Object, spec: Object) -> Violation | None:
    bad, kinds = [], set()
    for volume in spec.get("volumes") or ():
        if not any(volume.get(kind) is not None for kind in _VOLUMES):
            bad.append(volume["name"])
            kinds.add(next((kind for kind in _RESTRICTED_VOLUMES if volume.get(kind) is not None), "unknown"))
    if not bad:
        return None
    words = counted(kinds, "restricted volume type")
    text = f"{counted(bad, 'volume')} {quoted(bad)} {counted(bad, 'uses', 'use')} {words} {quoted(sorted(kinds))}"
    return Violation("restricted volume types", text)


def _non_root(metadata: Object, spec: Object) -> Violation | None:
    pod = security(spec).get("runAsNonRoot")
    given = [(each["name"], security(each).get("runAsNonRoot")) for each in containers(spec)]
    subject = setters(pod is False, [name for name, value in given if value is False])
    if subject:
        return Violation(_NOT_ROOT, f"{subject} must not set securityContext.runAsNonRoot=false")
    silent = [name for name, value in given if value is None and not pod]
    if not silent:
        return None
    return Violation(_NOT_ROOT, f"pod or {named(silent)} must set securityContext.runAsNonRoot=true")


def _non_root_35(metadata: Object, spec: Object) -> Violation | None:
    return None if has_user_namespace(spec) else _non_root(metadata, spec)


def _user(metadata: Object, spec: Object) -> Violation | None:
    bad = [each["name"] for each in containers(spec) if security(each).get("runAsUser") == 0]
    subject = setters(security(spec).get("runAsUser") == 0, bad)
    return Violation("runAsUser=0", f"{subject} must not set runAsUser=0") if subject else None


def _user_35(metadata: Object, spec: Object) -> Violation | None:
    return None if has_user_namespace(spec) else _user(metadata, spec)


def _seccomp(metadata: Object, spec: Object) -> Violation | None:
    wrong = wrong_seccomp(spec)
    if wrong is not None:
        return wrong
    if (security(spec).get("seccompProfile") or {}).get("type") in SECCOMP:
        return None
    silent = [each["name"] for each in containers(spec) if security(each).get("seccompProfile") is None]
    if not silent:
        return None
    text = f'pod or {named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", text)


def _seccomp_25(metadata: Object, spec: Object) -> Violation | None:
    return None if is_windows(spec) else _seccomp(metadata, spec)


CHECKS: Final = (
    Check("allowPrivilegeEscalation", RESTRICTED, ((8, _privilege_escalation), (25, _privilege_escalation_25))),
    Check(
        "capabilities_restricted", RESTRICTED, ((22, _capabilities), (25, _capabilities_25)), "capabilities_baseline"
    ),
    Check("procMount_restricted", RESTRICTED, ((35, proc_mount),), "procMount"),
    Check("restrictedVolumes", RESTRICTED, ((0, _volumes),), "hostPathVolumes"),
    Check("runAsNonRoot", RESTRICTED, ((0, _non_root), (35, _non_root_35))),
    Check("runAsUser", RESTRICTED, ((23, _user), (35, _user_35))),
    Check("seccompProfile_restricted", RESTRICTED, ((19, _seccomp), (25, _seccomp_25)), "seccompProfile_baseline"),
)
"""Checks in the order of the messages."""
