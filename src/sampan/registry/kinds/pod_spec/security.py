"""Security contexts of pods and containers: users, seccomp, AppArmor, sysctls, Windows options, the operating system.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required, too_long
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.options import PodOptions, containers_with_path, host_sysctl_problem
from sampan.registry.rules.fields import check_local_descending, not_supported

Errors = list[FieldError]
_ID_RANGE = "must be between 0 and 2147483647, inclusive"
_PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = f"({_SYSCTL_SEGMENT}[\\./])*{_SYSCTL_SEGMENT}"
_is_sysctl = re.compile(_SYSCTL).fullmatch
_has_control = re.compile(r"[\x00-\x1f\x7f]").search
_is_netbios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_is_windows_domain = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*").fullmatch
_has_invalid_user_character = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search
_WINDOWS_POD_CONTEXT = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_WINDOWS_CONTAINER_CONTEXT = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_NOTHING: Object = {}
_PLAIN_CONTEXT = frozenset(
    {
        "allowPrivilegeEscalation",
        "capabilities",
        "privileged",
        "readOnlyRootFilesystem",
        "runAsNonRoot",
        "seLinuxOptions",
    }
)
_NOT_WINDOWS = "cannot be set for a windows pod"


def _check_id(context: Mapping[str, Any], name: str, path: Path, errors: Errors) -> None:
    value = context.get(name)
    if value is not None and not 0 <= value <= 2147483647:
        errors.append(invalid(path.child(name), value, _ID_RANGE))


def is_trivial_context(context: core_v1.SecurityContext) -> bool:
    """Return True if a container's context has only fields that are always valid. A fast path around the full check."""
    if not _PLAIN_CONTEXT.issuperset(context):
        return False
    if context.get("allowPrivilegeEscalation") is not False:
        return True
    return not context.get("privileged") and not (context.get("capabilities") or _NOTHING).get("add")


def validate_security_context(
    context: core_v1.SecurityContext, path: Path, errors: Errors, *, host_users: bool
) -> None:
    """Check the SecurityContext of a container. `host_users` is True if the pod uses the host's user namespace."""
    _check_id(context, "runAsUser", path, errors)
    _check_id(context, "runAsGroup", path, errors)
    mount = context.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            errors.append(not_supported(path.child("procMount"), mount, ("Default", "Unmasked")))
        if host_users and mount == "Unmasked":
            text = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(path.child("procMount"), mount, text))
    if "seccompProfile" in context:
        check_seccomp_profile(context["seccompProfile"], path.child("seccompProfile"), errors)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(invalid(path, context, text))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(invalid(path, context, text))
    if "windowsOptions" in context:
        _check_windows_options(context["windowsOptions"], path.child("windowsOptions"), errors)
    if "appArmorProfile" in context:
        check_apparmor_profile(context["appArmorProfile"], path.child("appArmorProfile"), errors)


def validate_pod_security_context(
    context: core_v1.PodSecurityContext, spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check the PodSecurityContext, together with the host namespaces that the spec requests."""
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        _check_id(context, name, path, errors)
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        if not 0 <= group <= 2147483647:
            errors.append(invalid(path.child("supplementalGroups").index(i), group, _ID_RANGE))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(path.child("shareProcessNamespace"), True, text))
    if context.get("sysctls"):
        _check_sysctls(context["sysctls"], spec, path.child("sysctls"), errors, options)
    _check_policy(context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"), path, errors)
    if "seccompProfile" in context:
        check_seccomp_profile(context["seccompProfile"], path.child("seccompProfile"), errors)
    if "windowsOptions" in context:
        _check_windows_options(context["windowsOptions"], path.child("windowsOptions"), errors)
    if "appArmorProfile" in context:
        check_apparmor_profile(context["appArmorProfile"], path.child("appArmorProfile"), errors)
    _check_policy(context, "supplementalGroupsPolicy", ("Merge", "Strict"), path, errors)
    _check_policy(context, "seLinuxChangePolicy", ("MountOption", "Recursive"), path, errors)


def _check_policy(context: Mapping[str, Any], name: str, known: tuple[str, ...], path: Path, errors: Errors) -> None:
    value = context.get(name)
    if value is not None and value not in known:
        errors.append(not_supported(path.child(name), value, known))


def _check_sysctls(
    sysctls: list[core_v1.Sysctl], spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions
) -> None:
    names: set[str] = set()
    for i, sysctl in enumerate(sysctls):
        name = sysctl.get("name", "")
        at = path.index(i).child("name")
        if not name:
            errors.append(required(at))
        elif len(name) > 253 or not _is_sysctl(name):
            errors.append(invalid(at, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$"))
        elif name in names:
            errors.append(duplicate(at, name))
        if not options.allow_host_sysctls and (problem := host_sysctl_problem(name, spec)):
            errors.append(invalid(at, name, problem))
        names.add(name)


def check_seccomp_profile(profile: core_v1.SeccompProfile, path: Path, errors: Errors) -> None:
    """Require a supported type, and `localhostProfile` for the type Localhost only."""
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.append(required(path.child("type"), "type is required when seccompProfile is set"))
    elif kind not in _PROFILE_TYPES:
        errors.append(not_supported(path.child("type"), kind, _PROFILE_TYPES))
    at = path.child("localhostProfile")
    if kind == "Localhost":
        if local is None:
            errors.append(required(at, "must be set when seccomp type is Localhost"))
        else:
            check_local_descending(local, at, errors)
    elif local is not None:
        errors.append(invalid(at, local, "can only be set when seccomp type is Localhost"))


def check_apparmor_profile(profile: core_v1.AppArmorProfile, path: Path, errors: Errors) -> None:
    """Check an AppArmorProfile."""
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    at = path.child("localhostProfile")
    if kind == "Localhost":
        if local is None or local == "":
            errors.append(required(at, "must be set when AppArmor type is Localhost"))
        elif local != local.strip():
            errors.append(invalid(at, local, "must not be padded with whitespace"))
        if local is not None and len(local) > 4095:
            errors.append(too_long(at, "", 4095))
    elif kind in _PROFILE_TYPES:
        if local is not None:
            errors.append(invalid(at, local, "can only be set when AppArmor type is Localhost"))
    elif not kind:
        errors.append(required(path.child("type"), "type is required when appArmorProfile is set"))
    else:
        errors.append(not_supported(path.child("type"), kind, _PROFILE_TYPES))


def _check_windows_options(options: core_v1.WindowsSecurityContextOptions, path: Path, errors: Errors) -> None:
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        at = path.child("gmsaCredentialSpecName")
        errors.extend(invalid(at, name, text) for text in dns1123_subdomain_errors(name))
    spec = options.get("gmsaCredentialSpec")
    if spec is not None:
        at = path.child("gmsaCredentialSpec")
        if not spec:
            errors.append(invalid(at, spec, "gmsaCredentialSpec cannot be an empty string"))
        elif len(spec.encode()) > 64 * 1024:
            errors.append(invalid(at, spec, "gmsaCredentialSpec size must be under 64 KiB"))
    user = options.get("runAsUserName")
    if user is not None:
        errors.extend(invalid(path.child("runAsUserName"), user, text) for text in _windows_user_errors(user))


def _windows_user_errors(name: str) -> list[str]:
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if _has_control(name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = name.rpartition("\\")
    errors = []
    if len(domain) >= 256:
        errors.append("runAsUserName's Domain length must be under 256 characters")
    if backslash and not (_is_netbios(domain) or _is_windows_domain(domain)):
        errors.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        errors.append("runAsUserName's User cannot be empty")
    elif len(user) > 104:
        errors.append("runAsUserName's User length must not be longer than 104 characters")
    if user and not user.strip(". "):
        errors.append("runAsUserName's User cannot contain only periods or spaces")
    if _has_invalid_user_character(user):
        errors.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return errors


def validate_host_process(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    """Check HostProcess containers of Windows: all or none, and on the host's network. `path` is the spec's path."""
    of_pod = ((spec.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    total = host = 0
    for container, at in containers_with_path(spec, path):
        total += 1
        context = container.get("securityContext") or {}
        own = (context.get("windowsOptions") or {}).get("hostProcess")
        if own is not None and of_pod is not None and own != of_pod:
            text = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            errors.append(invalid(at.child("securityContext", "windowsOptions", "hostProcess"), own, text))
        if own or (own is None and of_pod):
            host += 1
    if not host:
        return
    if host != total:
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", text))
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(path.child("hostNetwork"), False, text))


def uses_windows_options(spec: core_v1.PodSpec) -> bool:
    """Return True if the pod or a container has Windows options. A fast path around the full check."""
    if "windowsOptions" in (spec.get("securityContext") or ()):
        return True
    return any(
        "windowsOptions" in (container.get("securityContext") or ())
        for kind in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(kind, ())
    )


def validate_os(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    """Check that no field is set that the pod's operating system does not support. `path` is the path of the spec."""
    name = spec["os"].get("name", "")
    if not name:
        errors.append(required(path.child("os", "name")))
    elif name == "linux":
        _validate_linux(spec, path, errors)
    elif name == "windows":
        _validate_windows(spec, path, errors)
    else:
        errors.append(not_supported(path.child("os"), name, ("linux", "windows")))


def _validate_linux(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    text = "windows options cannot be set for a linux pod"
    if "windowsOptions" in (spec.get("securityContext") or ()):
        errors.append(forbidden(path.child("securityContext", "windowsOptions"), text))
    for container, at in containers_with_path(spec, path):
        if "windowsOptions" in (container.get("securityContext") or ()):
            errors.append(forbidden(at.child("securityContext", "windowsOptions"), text))


def _is_set(value: Any) -> bool:
    return value is not None and value != []


def _validate_windows(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    context = spec.get("securityContext") or {}
    for name in ("appArmorProfile", "seLinuxOptions"):
        if name in context:
            errors.append(forbidden(path.child("securityContext", name), _NOT_WINDOWS))
    if spec.get("hostUsers") is not None:
        errors.append(forbidden(path.child("hostUsers"), _NOT_WINDOWS))
    for name in ("hostPID", "hostIPC"):
        if spec.get(name):
            errors.append(forbidden(path.child(name), _NOT_WINDOWS))
    for name in _WINDOWS_POD_CONTEXT[2:]:
        if name == "runAsUser" and spec.get("shareProcessNamespace") is not None:
            errors.append(forbidden(path.child("shareProcessNamespace"), _NOT_WINDOWS))
        if _is_set(context.get(name)):
            errors.append(forbidden(path.child("securityContext", name), _NOT_WINDOWS))
    for container, at in containers_with_path(spec, path):
        own = container.get("securityContext") or {}
        for name in _WINDOWS_CONTAINER_CONTEXT:
            if own.get(name) is not None:
                errors.append(forbidden(at.child("securityContext", name), _NOT_WINDOWS))
