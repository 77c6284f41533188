"""The errors that all kinds of patches share.

Source: apiserver pkg/endpoints/handlers/patch.go, apimachinery pkg/api/errors/errors.go (1.36).
"""

from typing import Any

import orjson

from sampan.core.errors import Reason, StatusError, invalid
from sampan.core.field import Path
from sampan.core.field import invalid as invalid_field
from sampan.core.gvk import GroupKind
from sampan.patch.go_text import json_kind

_NO_KIND = GroupKind("", "")


def not_applicable() -> StatusError:
    """422: the patch does not fit the object (a failing operation or test). Says no more, as Kubernetes does not."""
    return StatusError(
        Reason.INVALID, 422, "the server rejected our request due to an error in our request", details={}
    )


def bad_result(patched: Any, text: str) -> StatusError:
    """422: what the patch made of the object cannot be read as one; `text` says why.

    The decoder of the patched object uses it too, also for `strict decoding error: …`.
    """
    shown = orjson.dumps(patched).decode()
    return invalid(_NO_KIND, "", [invalid_field(Path("patch"), shown, text)])


def unexpected(text: str) -> StatusError:
    """500 with a text of its own and no reason: what Kubernetes answers for an error that it did not foresee."""
    return StatusError(Reason.UNKNOWN, 500, text)


def result_object(patched: Any) -> dict[str, Any]:
    """The patched object, when it still is an object. Raises 422."""
    if isinstance(patched, dict):
        return patched
    raise bad_result(patched, no_object_text(patched))


def no_object_text(value: Any) -> str:
    """What is said of JSON that should hold an object's kind and version, and is no object."""
    return (
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {json_kind(value)} into Go value of type "
        'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    )
