"""Checks of the level baseline: they prevent known privilege escalations.

Source: k8s.io/pod-security-admission policy/check_*.go (1.36).
"""

from typing import Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.server.admission.plugins.pod_security.check import (
    Check,
    Examine,
    Violation,
    counted,
    has_user_namespace,
    named,
    quoted,
    security,
    setters,
)
from sampan.server.admission.plugins.pod_security.policy import BASELINE
from sampan.server.admission.pods import containers

_APP_ARMOR_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"
_APP_ARMOR: Final = ("RuntimeDefault", "Localhost")
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP: Final = ("Localhost", "RuntimeDefault")
_CAPABILITIES: Final = frozenset(
    [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
)
_SELINUX: Final = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    }
)
_SYSCTLS_27: Final = _SYSCTLS | {"net.ipv4.ip_local_reserved_ports"}
_SYSCTLS_29: Final = _SYSCTLS_27 | {
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
_SYSCTLS_32: Final = _SYSCTLS_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}


def _app_armor(metadata: Object, spec: Object) -> Violation | None:
    values: set[str] = set()

    def is_bad(part: Object) -> bool:
        profile = security(part).get("appArmorProfile")
        if profile is None or profile.get("type") in _APP_ARMOR:
            return False
        values.add(profile.get("type", ""))
        return True

    bad_pod = is_bad(spec)
    bad = [each["name"] for each in containers(spec) if is_bad(each)]
    annotations = sorted(
        f"{name}={quote(value)}"
        for name, value in (metadata.get("annotations") or {}).items()
        if name.startswith(_APP_ARMOR_ANNOTATION)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    subject = [
        text for text in (setters(bad_pod, bad), counted(annotations, "annotation") if annotations else "") if text
    ]
    if not subject:
        return None
    shown = [*sorted(values), *annotations]
    reason = counted(shown, "forbidden AppArmor profile")
    return Violation(reason, f"{' and '.join(subject)} must not set AppArmor profile type to {quoted(shown)}")


def _capabilities(metadata: Object, spec: Object) -> Violation | None:
    bad, forbidden = [], set()
    for container in containers(spec):
        added = set((security(container).get("capabilities") or {}).get("add") or ()) - _CAPABILITIES
        if added:
            bad.append(container["name"])
            forbidden |= added
    if not bad:
        return None
    text = f"{named(bad)} must not include {quoted(sorted(forbidden))} in securityContext.capabilities.add"
    return Violation("non-default capabilities", text)


def _host_namespaces(metadata: Object, spec: Object) -> Violation | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_path_volumes(metadata: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in spec.get("volumes") or () if each.get("hostPath") is not None]
    return Violation("hostPath volumes", f"{counted(found, 'volume')} {quoted(found)}") if found else None


def _host_ports(metadata: Object, spec: Object) -> Violation | None:
    bad, ports = [], set()
    for container in containers(spec):
        used = {str(each["hostPort"]) for each in container.get("ports") or () if each.get("hostPort")}
        if used:
            bad.append(container["name"])
            ports |= used
    if not bad:
        return None
    text = f"{named(bad)} {counted(bad, 'uses', 'use')} {counted(ports, 'hostPort')} {', '.join(sorted(ports))}"
    return Violation("hostPort", text)


def _host_probes(metadata: Object, spec: Object) -> Violation | None:
    bad, hosts = set(), set()
    for container in containers(spec):
        lifecycle = container.get("lifecycle") or {}
        probes = [container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
        for handler in (*probes, lifecycle.get("postStart"), lifecycle.get("preStop")):
            for kind in ("httpGet", "tcpSocket"):
                host = ((handler or {}).get(kind) or {}).get("host")
                if host:
                    bad.add(container["name"])
                    hosts.add(host)
    if not bad:
        return None
    names = sorted(bad)
    words = counted(hosts, "probe or lifecycle host")
    text = f"{named(names)} {counted(names, 'uses', 'use')} {words} {quoted(sorted(hosts))}"
    return Violation("probe or lifecycle host", text)


def _privileged(metadata: Object, spec: Object) -> Violation | None:
    bad = [each["name"] for each in containers(spec) if security(each).get("privileged")]
    return Violation("privileged", f"{named(bad)} must not set securityContext.privileged=true") if bad else None


def proc_mount(metadata: Object, spec: Object) -> Violation | None:
    """Check procMount; also part of the level restricted."""
    found = {each["name"]: security(each).get("procMount") for each in containers(spec)}
    bad = {name: kind for name, kind in found.items() if kind is not None and kind != "Default"}
    if not bad:
        return None
    kinds = quoted(sorted(set(bad.values())))
    return Violation("procMount", f"{named(list(bad))} must not set securityContext.procMount to {kinds}")


def _proc_mount_35(metadata: Object, spec: Object) -> Violation | None:
    return None if has_user_namespace(spec) else proc_mount(metadata, spec)


def _selinux(types: frozenset[str]) -> Examine:
    def examine(metadata: Object, spec: Object) -> Violation | None:
        given = [(each, security(each).get("seLinuxOptions") or {}) for each in (spec, *containers(spec))]
        bad = [
            (part, options)
            for part, options in given
            if options.get("type", "") not in types or options.get("user") or options.get("role")
        ]
        if not bad:
            return None
        wrong = sorted({options.get("type", "") for _, options in bad} - types)
        data = [f"{counted(wrong, 'type')} {quoted(wrong)}"] if wrong else []
        data += [f"{field} may not be set" for field in ("user", "role") if any(each.get(field) for _, each in bad)]
        subject = setters(bad[0][0] is spec, [part["name"] for part, _ in bad if part is not spec])
        return Violation("seLinuxOptions", f"{subject} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}")

    return examine


def _seccomp(metadata: Object, spec: Object) -> Violation | None:
    annotations = metadata.get("annotations") or {}
    names = {_SECCOMP_POD, *(_SECCOMP_CONTAINER + each["name"] for each in containers(spec))}
    forbidden = sorted(
        f"{name}={quote(annotations[name])}"
        for name in names
        if name in annotations
        and annotations[name] not in ("runtime/default", "docker/default")
        and not annotations[name].startswith("localhost/")
    )
    if not forbidden:
        return None
    return Violation("seccompProfile", f"forbidden {counted(forbidden, 'annotation')} {', '.join(forbidden)}")


def _seccomp_19(metadata: Object, spec: Object) -> Violation | None:
    return wrong_seccomp(spec)


def wrong_seccomp(spec: Object) -> Violation | None:
    """Return the violation of a seccomp profile that does not confine containers."""
    given = [(each, security(each).get("seccompProfile")) for each in (spec, *containers(spec))]
    bad = [(each, profile.get("type", "")) for each, profile in given if profile and profile.get("type") not in SECCOMP]
    if not bad:
        return None
    subject = setters(bad[0][0] is spec, [part["name"] for part, _ in bad if part is not spec])
    types = quoted(sorted({kind for _, kind in bad}))
    return Violation("seccompProfile", f"{subject} must not set securityContext.seccompProfile.type to {types}")


def _sysctls(allowed: frozenset[str]) -> Examine:
    def examine(metadata: Object, spec: Object) -> Violation | None:
        names = [each.get("name", "") for each in security(spec).get("sysctls") or ()]
        forbidden = [name for name in names if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(forbidden)) if forbidden else None

    return examine


def _windows_host_process(metadata: Object, spec: Object) -> Violation | None:
    def is_bad(part: Object) -> bool:
        return bool((security(part).get("windowsOptions") or {}).get("hostProcess"))

    subject = setters(is_bad(spec), [each["name"] for each in containers(spec) if is_bad(each)])
    return (
        Violation("hostProcess", f"{subject} must not set securityContext.windowsOptions.hostProcess=true")
        if subject
        else None
    )


CHECKS: Final = (
    Check("appArmorProfile", BASELINE, ((0, _app_armor),)),
    Check("capabilities_baseline", BASELINE, ((0, _capabilities),)),
    Check("hostNamespaces", BASELINE, ((0, _host_namespaces),)),
    Check("hostPathVolumes", BASELINE, ((0, _host_path_volumes),)),
    Check("hostPorts", BASELINE, ((0, _host_ports),)),
    Check("hostProbesAndHostLifecycle", BASELINE, ((34, _host_probes),)),
    Check("privileged", BASELINE, ((0, _privileged),)),
    Check("procMount", BASELINE, ((0, proc_mount), (35, _proc_mount_35))),
    Check("seLinuxOptions", BASELINE, ((0, _selinux(_SELINUX)), (31, _selinux(_SELINUX | {"container_engine_t"})))),
    Check("seccompProfile_baseline", BASELINE, ((0, _seccomp), (19, _seccomp_19))),
    Check(
        "sysctls",
        BASELINE,
        (
            (0, _sysctls(_SYSCTLS)),
            (27, _sysctls(_SYSCTLS_27)),
            (29, _sysctls(_SYSCTLS_29)),
            (32, _sysctls(_SYSCTLS_32)),
        ),
    ),
    Check("windowsHostProcess", BASELINE, ((0, _windows_host_process),)),
)
"""Checks in the order of the messages."""
