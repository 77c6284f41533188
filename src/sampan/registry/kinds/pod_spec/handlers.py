"""Probes, lifecycle hooks and stop signals of containers.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.validation.values import http_header_name_errors, port_name_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.options import AnyContainer
from sampan.registry.rules.fields import NOT_NEGATIVE, not_supported

Errors = list[FieldError]
_PROBE_NUMBERS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_LIFECYCLE_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_SCHEMES = frozenset({"HTTP", "HTTPS"})
PORT_RANGE = "must be between 1 and 65535, inclusive"

cached_port_name_errors = lru_cache(maxsize=2048)(port_name_errors)
"""Cached `port_name_errors`, because every pod has the same few names. The list is shared; callers must not change it.
"""
_WINDOWS_SIGNALS = frozenset({"SIGKILL", "SIGTERM"})
_SIGNAL_NAMES = (
    "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM "
    "TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX"
)
_LINUX_SIGNALS = frozenset(
    [f"SIG{name}" for name in _SIGNAL_NAMES.split(" ")]
    + [f"SIGRTMIN+{n}" for n in range(1, 16)]
    + [f"SIGRTMAX-{n}" for n in range(1, 15)]
)


def check_port(port: int | str, path: Path, errors: Errors) -> None:
    """Check a port by number or by name."""
    if isinstance(port, int):
        if not 1 <= port <= 65535:
            errors.append(invalid(path, port, PORT_RANGE))
    else:
        errors.extend(invalid(path, port, text) for text in port_name_errors(port))


def validate_probes(container: AnyContainer, path: Path, errors: Errors) -> None:
    """Check the three probes of a container. `path` is the path of the container."""
    probe = container.get("livenessProbe")
    if probe is not None:
        _validate_probe(probe, path, "livenessProbe", errors)
        _check_success_threshold(probe, path, "livenessProbe", errors)
    probe = container.get("readinessProbe")
    if probe is not None:
        _validate_probe(probe, path, "readinessProbe", errors)
        grace = probe.get("terminationGracePeriodSeconds")
        if grace is not None:
            at = path.child("readinessProbe", "terminationGracePeriodSeconds")
            errors.append(invalid(at, grace, "must not be set for readinessProbes"))
    probe = container.get("startupProbe")
    if probe is not None:
        _validate_probe(probe, path, "startupProbe", errors)
        _check_success_threshold(probe, path, "startupProbe", errors)


def _check_success_threshold(probe: core_v1.Probe, path: Path, name: str, errors: Errors) -> None:
    threshold = probe.get("successThreshold", 0)
    if threshold != 1:
        errors.append(invalid(path.child(name, "successThreshold"), threshold, "must be 1"))


def _validate_probe(probe: core_v1.Probe, path: Path, name: str, errors: Errors) -> None:
    _validate_handler(probe, _PROBE_HANDLERS, None, path, name, errors)
    for number in _PROBE_NUMBERS:
        value = probe.get(number, 0)
        if value < 0:
            errors.append(invalid(path.child(name, number), value, NOT_NEGATIVE))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        at = path.child(name, "terminationGracePeriodSeconds")
        errors.append(invalid(at, grace, "must be greater than 0"))


def _validate_handler(
    handler: core_v1.LifecycleHandler | core_v1.Probe,
    kinds: tuple[str, ...],
    grace_s: int | None,
    path: Path,
    name: str,
    errors: Errors,
) -> None:
    """Check that the probe or hook `name` has exactly one action and that it is valid. `path` is that of its parent."""
    found = False
    actions: Mapping[str, Any] = handler  # each kind has another type
    for kind in kinds:
        action = actions.get(kind)
        if action is None:
            continue
        if found:
            errors.append(forbidden(path.child(name, kind), "may not specify more than 1 handler type"))
            continue
        found = True
        if kind == "exec":
            if not action.get("command"):
                errors.append(required(path.child(name, "exec", "command")))
        elif kind == "httpGet":
            _validate_http_get(action, path, name, errors)
        elif kind == "sleep":
            _validate_sleep(action, grace_s, path.child(name), errors)
        else:
            check_port(action.get("port", 0), path.child(name, kind, "port"), errors)
    if not found:
        errors.append(required(path.child(name), "must specify a handler type"))


def _validate_http_get(action: core_v1.HTTPGetAction, path: Path, name: str, errors: Errors) -> None:
    if not action.get("path"):
        errors.append(required(path.child(name, "httpGet", "path")))
    port = action.get("port", 0)
    if isinstance(port, str):
        if texts := cached_port_name_errors(port):
            errors.extend(invalid(path.child(name, "httpGet", "port"), port, text) for text in texts)
    elif not 1 <= port <= 65535:
        errors.append(invalid(path.child(name, "httpGet", "port"), port, PORT_RANGE))
    if action.get("scheme") not in _SCHEMES:
        errors.append(not_supported(path.child(name, "httpGet", "scheme"), action.get("scheme", ""), _SCHEMES))
    for header in action.get("httpHeaders", ()):
        text_name = header.get("name", "")
        for text in http_header_name_errors(text_name):
            errors.append(invalid(path.child(name, "httpGet", "httpHeaders"), text_name, text))


def _validate_sleep(action: core_v1.SleepAction, grace_s: int | None, path: Path, errors: Errors) -> None:
    seconds = action.get("seconds", 0)
    if grace_s is not None and not 0 <= seconds <= grace_s:
        text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})"
        errors.append(invalid(path.child("sleep"), seconds, text))


def validate_lifecycle(
    lifecycle: core_v1.Lifecycle, grace_s: int | None, os: core_v1.PodOS | None, path: Path, errors: Errors
) -> None:
    """Check the hooks of a container. `grace_s` is the pod's terminationGracePeriodSeconds. `path` is that of the
    lifecycle.
    """
    for name in ("postStart", "preStop"):
        handler = lifecycle.get(name)
        if handler is not None:
            _validate_handler(handler, _LIFECYCLE_HANDLERS, grace_s, path, name, errors)
    signal = lifecycle.get("stopSignal")
    if signal is None:
        return
    at = path.child("stopSignal")
    if os is None:
        errors.append(forbidden(at, "may not be set for containers with empty `spec.os.name`"))
        return
    known = {"windows": _WINDOWS_SIGNALS, "linux": _LINUX_SIGNALS}.get(os.get("name", ""))
    if known is not None and signal not in known:
        errors.append(not_supported(at, signal, known))
