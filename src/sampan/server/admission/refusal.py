"""Errors of plug-ins. Source: apiserver pkg/admission/errors.go (1.36)."""

from collections.abc import Sequence

from sampan.core.errors import Details, Reason, StatusError, forbidden
from sampan.server.admission.chain import Attributes


def refusal(attributes: Attributes, *texts: str, causes: Sequence[Details] = ()) -> StatusError:
    """Return a 403 for the request. Several messages are joined into one list without duplicates."""
    unique = list(dict.fromkeys(texts))
    text = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
    return forbidden(attributes.gvr.group_resource, _name(attributes), text, causes)


def plain_error(text: str) -> StatusError:
    """Return a 500 without a reason, as Kubernetes does for an error that has no status."""
    return StatusError(Reason.UNKNOWN, 500, text)


def _name(attributes: Attributes) -> str:
    if attributes.name:
        return attributes.name
    metadata = attributes.obj.get("metadata", {}) if attributes.obj is not None else {}
    return metadata.get("name") or metadata.get("generateName") or "Unknown"
