"""`AdmissionResponse`: the response of a handler.

Source: controller-runtime pkg/webhook/admission/response.go (0.24).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sampan.core.errors import Reason, StatusError
from sampan.operator.webhook.admission.json_diff import Operation, json_patch_between
from sampan.resource import Object


class Denied(Exception):
    """Raised by a handler to refuse the request with 403 and this text."""


@dataclass(frozen=True, slots=True)
class AdmissionResponse:
    """Decision about a request, with its patch and messages."""

    allowed: bool
    status: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a metav1.Status: `code`, `reason`, `message`, `details`."""
    patch: Sequence[Operation] = ()
    """JSON patch of the object; only for mutating webhooks."""
    warnings: Sequence[str] = ()
    """Shown to the client, also with a refusal."""
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations for the API server's audit log; keys without a domain."""

    @property
    def code(self) -> int:
        """HTTP code that the client gets for a refusal."""
        return int(self.status.get("code", 200))

    def with_warnings(self, warnings: Iterable[str]) -> "AdmissionResponse":
        """Return the response with more warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))


def allowed(message: str = "") -> AdmissionResponse:
    """Return a response that allows the request."""
    return AdmissionResponse(True, {"code": 200, **({"message": message} if message else {})})


def denied(message: str) -> AdmissionResponse:
    """Return a response that refuses the request with 403."""
    return AdmissionResponse(False, {"code": 403, "reason": str(Reason.FORBIDDEN), "message": message})


def errored(code: int, message: str) -> AdmissionResponse:
    """Return a response for a request that could not be processed."""
    return AdmissionResponse(False, {"code": code, "message": message})


def refused(error: StatusError) -> AdmissionResponse:
    """Return a refusal with reason, code, message and causes of the error."""
    status = error.to_status()
    return AdmissionResponse(
        False, {key: status[key] for key in ("code", "reason", "message", "details") if key in status}
    )


def patched(before: Object, after: Object) -> AdmissionResponse:
    """Return a response that allows the request and turns `before`, the object of the request, into `after`."""
    return AdmissionResponse(True, {"code": 200}, patch=json_patch_between(before, after))
