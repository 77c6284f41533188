"""Conversion of FlowSchemas and PriorityLevelConfigurations to compiled schemas and levels.

Source: apiserver pkg/util/flowcontrol/apf_controller.go lockAndDigestConfigObjects (1.36).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from sampan.core.object import Object
from sampan.registry.kinds.flowcontrol.bootstrap import MANDATORY, flow_schemas, priority_levels
from sampan.server.flow_control.flow_schema import CompiledFlowSchema
from sampan.server.flow_control.priority_level import PriorityLevel

CATCH_ALL: Final = "catch-all"

Make = Callable[[Object], PriorityLevel]


class EffectiveConfiguration(NamedTuple):
    """Schemas and levels in effect until the objects change."""

    schemas: list[CompiledFlowSchema]
    """Schemas in matching order. `catch-all` is last, unless a schema has a higher precedence number."""
    levels: dict[str, PriorityLevel]
    dangling: list[tuple[Object, str, bool]]
    """FlowSchemas whose condition must be written: the object, the name of its level, and True if that level exists."""


def digest(
    level_objects: Collection[Object],
    schema_objects: Collection[Object],
    before: Mapping[str, PriorityLevel],
    *,
    make: Make,
    seats: int,
) -> EffectiveConfiguration:
    """Return the configuration for these objects. Levels in `before` keep their running and waiting requests."""
    levels: dict[str, PriorityLevel] = {}
    for obj in level_objects:
        if _is_complete(obj):
            _keep(levels, obj, before, make)
    schemas, dangling = [], []
    for obj in schema_objects:
        schema = CompiledFlowSchema(obj)
        found = schema.level in levels
        if found:
            schemas.append(schema)
        if not _reports(obj, found, schema.level):
            dangling.append((obj, schema.level, found))
    for name, spec in priority_levels().items():
        if name in MANDATORY and name not in levels:
            _keep(levels, {"metadata": {"name": name}, "spec": spec}, before, make)
    for name, level in before.items():
        if name not in levels and not level.queue_set.idle:
            level.undesired = True
            levels[name] = level
    known = {schema.name for schema in schemas}
    specs = flow_schemas()
    schemas += [CompiledFlowSchema({"metadata": {"name": n}, "spec": specs[n]}) for n in MANDATORY if n not in known]
    share_sum = sum(level.shares for level in levels.values())
    for level in levels.values():
        level.share(seats, share_sum)
    return EffectiveConfiguration(sorted(schemas, key=lambda schema: schema.order), levels, dangling)


def _keep(levels: dict[str, PriorityLevel], obj: Object, before: Mapping[str, PriorityLevel], make: Make) -> None:
    level = before.get(obj["metadata"]["name"])
    if level is None:
        level = make(obj)
    else:
        level.take(obj)
    levels[level.name] = level


def _is_complete(obj: Object) -> bool:
    """Return True if a level has the necessary fields. Another server may have stored it without validation."""
    spec = obj.get("spec") or {}
    exempt = spec.get("type") == "Exempt"
    return exempt == (obj["metadata"]["name"] == "exempt") and (exempt or bool(spec.get("limited")))


def _reports(obj: Object, found: bool, level: str) -> bool:
    """Return True if the schema's condition already reports the existence of its level."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Dangling":
            text: str = condition.get("message", "")
            return condition.get("status") == ("False" if found else "True") and f'"{level}"' in text
    return False
