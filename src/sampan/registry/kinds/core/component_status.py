"""ComponentStatuses, which are computed and not stored."""

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.object import Object
from sampan.registry.columns.cells import EMPTY, NAME, column
from sampan.registry.kind import Kind, KindVersion


def _healthy(component: Object) -> Mapping[str, Any]:
    for condition in component.get("conditions", ()):
        if condition["type"] == "Healthy":
            return condition  # type: ignore[no-any-return]
    return EMPTY


def _status(component: Object) -> str:
    status = _healthy(component).get("status")
    return "Unknown" if status is None else "Healthy" if status == "True" else "Unhealthy"


KINDS: Final = (
    Kind(
        "",
        "componentstatuses",
        columns=lambda ages: (
            NAME,
            column("Status", _status),
            column("Message", lambda obj: _healthy(obj).get("message", "")),
            column("Error", lambda obj: _healthy(obj).get("error", "")),
        ),
        versions={"v1": KindVersion(deprecation_warning="v1 ComponentStatus is deprecated in v1.19+")},
    ),
)
