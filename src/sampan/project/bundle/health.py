"""Health of custom resources for Argo CD and Flux, from their conditions.

| object | Argo CD | Flux |
|---|---|---|
| the operator has not observed its last generation | Progressing | in progress |
| condition Stalled or Degraded is True | Degraded | failed |
| condition Ready is True, for this generation | Healthy | current |
| anything else | Progressing | in progress |

Source: cli-utils pkg/kstatus (0.37) for Ready and Stalled; argo-cd docs/operator-manual/health.md (3.2); Flux RFC 0009.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sampan.resource import Object

FAILED: Final = ("Stalled", "Degraded")
READY: Final = "Ready"
_FAILED_LUA: Final = " or ".join(f'condition.type == "{each}"' for each in FAILED)
_FAILED_CEL: Final = ", ".join(f"'{each}'" for each in FAILED)

LUA: Final = f"""\
local status = obj.status or {{}}
local generation = obj.metadata.generation
local progressing = {{status = "Progressing", message = "waiting for the operator"}}
if status.observedGeneration ~= nil and status.observedGeneration ~= generation then
  return progressing
end
local health = progressing
for _, condition in ipairs(status.conditions or {{}}) do
  local isCurrent = condition.observedGeneration == nil or condition.observedGeneration == generation
  if ({_FAILED_LUA}) and condition.status == "True" then
    return {{status = "Degraded", message = condition.message or condition.reason or condition.type}}
  end
  if condition.type == "{READY}" and isCurrent then
    health = {{status = "Progressing", message = condition.message or condition.reason or "not ready"}}
    if condition.status == "True" then
      health.status = "Healthy"
    end
  end
end
return health
"""
"""Health check for Argo CD: a function body in Lua, with the object in `obj`."""

_CONDITIONS: Final = "has(status.conditions) && status.conditions.exists"
FAILED_CEL: Final = f"{_CONDITIONS}(c, c.type in [{_FAILED_CEL}] && c.status == 'True')"
CURRENT_CEL: Final = (
    f"{_CONDITIONS}(c, c.type == '{READY}' && c.status == 'True' && "
    "(!has(c.observedGeneration) || c.observedGeneration == metadata.generation))"
)
"""Expressions for Flux; its variables are the fields of the object. Without a status, they fail: that is in progress.

Flux compares `status.observedGeneration` itself, before any expression.
"""


@dataclass(frozen=True, slots=True)
class HealthyKind:
    """A kind with conditions."""

    group: str
    kind: str
    versions: tuple[str, ...]


def kinds_with_conditions(crds: list[Object]) -> Iterator[HealthyKind]:
    """Yield the kinds of CRDs whose status has conditions, with the served versions that have them."""
    for crd in crds:
        spec = crd["spec"]
        versions = tuple(each["name"] for each in spec["versions"] if each.get("served") and _has_conditions(each))
        if versions:
            yield HealthyKind(spec["group"], spec["names"]["kind"], versions)


def _has_conditions(version: Object) -> bool:
    found = version.get("schema", {}).get("openAPIV3Schema", {})
    for name in ("status", "conditions"):
        found = (found.get("properties") or {}).get(name) or {}
    return bool(found)


def argo_settings(kinds: list[HealthyKind]) -> dict[str, str]:
    """Return the data of Argo CD's ConfigMap `argocd-cm`."""
    return {f"resource.customizations.health.{each.group}_{each.kind}": LUA for each in kinds}


def flux_checks(kinds: list[HealthyKind]) -> list[dict[str, str]]:
    """Return `healthCheckExprs` of a Kustomization of Flux."""
    return [
        {"apiVersion": f"{each.group}/{version}", "kind": each.kind, "failed": FAILED_CEL, "current": CURRENT_CEL}
        for each in kinds
        for version in each.versions
    ]
