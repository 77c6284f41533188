"""Pod templates and claim templates of workloads: the functions that strategies of other API groups use.

Source: pkg/api/pod/{util,warnings}.go (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampan.core.field import Path
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.defaults import default_claim_spec, default_pod_template
from sampan.registry.kinds.pod_spec.persistent_volume_claim_spec import validate_claim_spec
from sampan.registry.kinds.pod_spec.prepare import drop_disabled_fields
from sampan.registry.kinds.pod_spec.spec import validate_pod_template_spec
from sampan.registry.kinds.pod_spec.warnings import claim_spec_warnings, template_warnings
from sampan.registry.rules.fields import Errors


def default_template(owner_spec: Any) -> None:
    """Set the defaults of the pod template in a workload's spec."""
    default_pod_template(owner_spec.setdefault("template", {}))


def default_claim_template(claim: core_v1.PersistentVolumeClaim) -> None:
    """Set the defaults of a claim in `volumeClaimTemplates`, which is written as a whole object."""
    claim.setdefault("apiVersion", "v1")
    claim.setdefault("kind", "PersistentVolumeClaim")
    claim.setdefault("metadata", {})
    default_claim_spec(claim.setdefault("spec", {}))
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"


def drop_disabled_template_fields(owner_spec: Any, old: Any | None) -> None:
    """Drop fields of disabled features from the template, unless the stored spec `old` has them."""
    spec = (owner_spec.get("template") or {}).get("spec")
    if spec is not None:
        drop_disabled_fields(spec, None if old is None else (old.get("template") or {}).get("spec"))


def check_template(
    template: core_v1.PodTemplateSpec, old: core_v1.PodTemplateSpec | None, path: Path, errors: Errors
) -> None:
    """Check a pod template. Faults of the stored template `old` are tolerated."""
    errors.extend(validate_pod_template_spec(template, path, old_template=old))


def check_claim_spec(spec: core_v1.PersistentVolumeClaimSpec, path: Path, errors: Errors) -> None:
    """Check the spec of a new claim."""
    validate_claim_spec(spec, path, errors)


def warnings(template: core_v1.PodTemplateSpec, old: core_v1.PodTemplateSpec | None, path: Path) -> list[str]:
    """Return the warnings for a pod template."""
    return template_warnings(template, path)


def claim_warnings(spec: core_v1.PersistentVolumeClaimSpec, path: Path) -> list[str]:
    """Return the warnings for the spec of a claim."""
    return claim_spec_warnings(spec, path)


def warnings_on_update(obj: Object, old: Object, path: Path) -> list[str]:
    """Return the warnings for `spec.template` if the update increased the generation."""
    if obj["metadata"].get("generation") == old["metadata"].get("generation"):
        return []
    return warnings(obj["spec"].get("template", {}), old["spec"].get("template", {}), path)


def name_warnings(obj: Mapping[str, Any]) -> list[str]:
    """Warn about a name that is not a DNS label, because pod and host names are derived from it."""
    texts = dns1123_label_errors(obj["metadata"].get("name", ""))
    if not texts:
        return []
    return [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        f"a DNS label is recommended: [{' '.join(texts)}]"
    ]
