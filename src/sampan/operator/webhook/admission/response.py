"""`AdmissionResponse`: what a handler answers.

Source: controller-runtime pkg/webhook/admission/response.go (0.24).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sampan.core.errors import Reason, StatusError
from sampan.operator.webhook.admission.json_diff import Operation, json_patch_between
from sampan.resource import Object


class Denied(Exception):
    """Raised by a handler: the request is refused with 403 and this text."""


@dataclass(frozen=True, slots=True)
class AdmissionResponse:
    """Whether a request may pass, and what else is to be said of it."""

    allowed: bool
    status: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a metav1.Status: `code`, `reason`, `message`, `details`."""
    patch: Sequence[Operation] = ()
    """JSON patch of the object; only a mutating webhook may have one."""
    warnings: Sequence[str] = ()
    """Shown to the client, whether allowed or not."""
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    """For the API server's audit log; keys without a domain."""

    @property
    def code(self) -> int:
        """The HTTP code that the API server's client gets when this is a no."""
        return int(self.status.get("code", 200))

    def with_warnings(self, warnings: Iterable[str]) -> "AdmissionResponse":
        """The same with further warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))


def allowed(message: str = "") -> AdmissionResponse:
    """Yes."""
    return AdmissionResponse(True, {"code": 200, **({"message": message} if message else {})})


def denied(message: str) -> AdmissionResponse:
    """No: 403."""
    return AdmissionResponse(False, {"code": 403, "reason": str(Reason.FORBIDDEN), "message": message})


def errored(code: int, message: str) -> AdmissionResponse:
    """No, because the question could not be answered."""
    return AdmissionResponse(False, {"code": code, "message": message})


def refused(error: StatusError) -> AdmissionResponse:
    """No, with all that the error says: reason, code, message and causes."""
    status = error.to_status()
    return AdmissionResponse(
        False, {key: status[key] for key in ("code", "reason", "message", "details") if key in status}
    )


def patched(before: Object, after: Object) -> AdmissionResponse:
    """Yes, with the changes that make `after` of `before`, the object of the request."""
    return AdmissionResponse(True, {"code": 200}, patch=json_patch_between(before, after))
