"""What form of discovery a client accepts.

Source: apiserver pkg/endpoints/discovery/aggregated/{wrapper,negotiation}.go (1.36).
"""

import enum

from sampan.core.errors import not_acceptable

_JSON_RANGES = frozenset({"application/json", "application/*", "*/*"})


class Form(enum.Enum):
    """The two forms."""

    LEGACY = "legacy"
    AGGREGATED = "aggregated"


def negotiate(accept: str) -> Form:
    """The form that an `Accept` header prefers: better quality first, then as listed. Raises `StatusError` 406."""
    if not accept.strip():
        return Form.LEGACY
    clauses = [_clause(text) for text in accept.split(",") if text.strip()]
    for _, media_type, parameters in sorted(clauses, key=lambda c: -c[0]):
        if media_type not in _JSON_RANGES:
            continue
        wanted = parameters.get("as")
        if wanted is None:
            return Form.LEGACY
        group_version = (parameters.get("g"), parameters.get("v"))
        if wanted == "APIGroupDiscoveryList" and group_version == ("apidiscovery.k8s.io", "v2"):
            return Form.AGGREGATED
    raise not_acceptable("only the following media types are accepted: application/json")


def _clause(text: str) -> tuple[float, str, dict[str, str]]:
    media_type, *rest = text.split(";")
    parameters = {}
    for parameter in rest:
        name, _, value = parameter.partition("=")
        parameters[name.strip().lower()] = value.strip().strip('"')
    try:
        quality = float(parameters.pop("q", "1"))
    except ValueError:
        quality = 1.0
    return quality, media_type.strip().lower(), parameters
