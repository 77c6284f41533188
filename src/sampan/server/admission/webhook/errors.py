"""Errors of calls: the webhook cannot be called, or it refuses.

Source: apiserver pkg/util/webhook/error.go, pkg/admission/plugin/webhook/errors/statuserror.go (1.36).
"""

from typing import Any

from sampan.core import errors
from sampan.core.errors import Reason, StatusError
from sampan.core.field import quote
from sampan.core.object import Object

_BAD_REQUEST = 400
_REASONS = frozenset(map(str, Reason))


class CallFailed(Exception):
    """A call failed, or its response is invalid. The failure policy decides. `code` is for metrics."""

    def __init__(self, name: str, text: str, code: int = 500) -> None:
        super().__init__(f"failed calling webhook {quote(name)}: {text}")
        self.code = code


class Rejected(Exception):
    """The webhook refused the request; `status` is for the client."""

    def __init__(self, status: StatusError) -> None:
        super().__init__(status.message)
        self.status = status


class Denial(StatusError):
    """Refusal by a webhook, with its code, reason (any text) and details."""

    def __init__(self, name: str, result: Object | None) -> None:
        result = result or {}
        text = f"admission webhook {quote(name)} denied the request"
        message, self._word = result.get("message") or "", str(result.get("reason") or "")
        why = message or self._word
        code, details = result.get("code"), result.get("details")
        super().__init__(
            Reason(self._word) if self._word in _REASONS else Reason.UNKNOWN,
            max(code if isinstance(code, int) else 0, _BAD_REQUEST),
            f"{text}: {why}" if why else f"{text} without explanation",
            details=details if isinstance(details, dict) else None,
        )

    def to_status(self) -> dict[str, Any]:
        """Return the Status. See `StatusError.to_status`."""
        status = super().to_status()
        return {**status, "reason": self._word} if self._word else status


def dry_run_unsupported(name: str) -> StatusError:
    """Return the 400 for a dry run with a webhook that may have side effects."""
    return errors.bad_request(f"admission webhook {quote(name)} does not support dry run")
