"""Controller revisions. Source: pkg/registry/apps/controllerrevision, pkg/apis/apps/validation (1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.field import Path, required
from sampan.kinds import apps_v1
from sampan.registry.columns.cells import NAME, NONE, at, column
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors, check_immutable, check_not_negative
from sampan.registry.strategy import Context, Strategy

_DATA = Path("data")
_REVISION = Path("revision")


class ControllerRevisionStrategy(Strategy):
    """Strategy of controller revisions, whose data is immutable."""

    has_generation = False

    def check(self, ctx: Context, obj: apps_v1.ControllerRevision, errors: Errors) -> None:
        check_not_negative(obj.get("revision", 0), _REVISION, errors)
        data = obj.get("data")
        if data is None:
            errors.append(required(_DATA, "data is mandatory"))
        elif not isinstance(data, dict):
            errors.append(required(_DATA, "data must be a valid JSON object"))

    def check_update(
        self, ctx: Context, obj: apps_v1.ControllerRevision, old: apps_v1.ControllerRevision, errors: Errors
    ) -> None:
        """Check that only the revision number changes."""
        check_not_negative(obj.get("revision", 0), _REVISION, errors)
        check_immutable(obj.get("data"), old.get("data"), _DATA, errors)


def _controller(revision: apps_v1.ControllerRevision) -> str:
    for owner in revision["metadata"].get("ownerReferences", ()):
        if owner.get("controller"):
            return _resource_name(owner)
    return NONE


def _resource_name(owner: Mapping[str, Any]) -> str:
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


KINDS: Final = (
    Kind(
        "apps",
        "controllerrevisions",
        ControllerRevisionStrategy(),
        columns=lambda ages: (
            NAME,
            column("Controller", _controller),
            column("Revision", at("revision", default=0)),
            ages.column,
        ),
    ),
)
