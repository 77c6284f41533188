"""Errors shared by all patch formats.

Source: apiserver pkg/endpoints/handlers/patch.go, apimachinery pkg/api/errors/errors.go (1.36).
"""

from typing import Any

import orjson

from sampan.core import go_text
from sampan.core.errors import Reason, StatusError, invalid
from sampan.core.field import Path
from sampan.core.field import invalid as invalid_field
from sampan.core.gvk import GroupKind

_NO_KIND = GroupKind("", "")


def not_applicable() -> StatusError:
    """Return a 422 for a patch that does not fit the object. The error has no details, as in Kubernetes."""
    return StatusError(
        Reason.INVALID, 422, "the server rejected our request due to an error in our request", details={}
    )


def bad_result(patched: Any, text: str) -> StatusError:
    """Return a 422 for a patched object that cannot be decoded; `text` is the reason.

    The decoder of the patched object uses it too, also for `strict decoding error: …`.
    """
    shown = orjson.dumps(patched).decode()
    return invalid(_NO_KIND, "", [invalid_field(Path("patch"), shown, text)])


def unexpected(text: str) -> StatusError:
    """Return a 500 without a reason, as Kubernetes returns for errors that it does not classify."""
    return StatusError(Reason.UNKNOWN, 500, text)


def result_object(patched: Any) -> dict[str, Any]:
    """Return the patched document if it is a JSON object. Raises 422."""
    if isinstance(patched, dict):
        return patched
    raise bad_result(patched, not_object_text(patched))


def not_object_text(value: Any) -> str:
    """Return the message for a JSON value that should be an object with apiVersion and kind."""
    return f"couldn't get version/kind; json parse error: {go_text.not_object_text(value)}"
