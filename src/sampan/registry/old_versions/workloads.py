"""Deployments, ReplicaSets, DaemonSets and StatefulSets of extensions/v1beta1 and apps/v1beta1.

Stored objects of apps/v1beta2 are the same as those of v1.

Source: pkg/apis/{apps,extensions}/v1beta1/defaults.go, pkg/apis/apps/v1/conversion.go (1.36).
"""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import default, member

_INT32_MAX: Final = 2**31 - 1
_ROLLBACK: Final = "deprecated.deployment.rollback.to"
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"


def replica_set(obj: Object) -> None:
    """Derive a missing selector and missing labels from the labels of the template."""
    labels = member(obj, "spec", "template", "metadata").get("labels")
    if not labels:
        return
    if obj["spec"].get("selector") is None:
        obj["spec"]["selector"] = {"matchLabels": dict(labels)}
    default(obj.setdefault("metadata", {}), labels=dict(labels))


def stateful_set(obj: Object) -> None:
    """Set the defaults of apps/v1beta1: the update strategy is OnDelete."""
    replica_set(obj)
    _replaced_on_delete(obj)


def daemon_set(obj: Object) -> None:
    """Set the defaults of extensions/v1beta1; move the generation of the template to an annotation."""
    replica_set(obj)
    _replaced_on_delete(obj)
    _annotate(obj, _TEMPLATE_GENERATION, member(obj, "spec").pop("templateGeneration", None) or 0)


def deployment(obj: Object) -> None:
    """Set the default number of kept revisions; move a rollback to an annotation."""
    replica_set(obj)
    spec = member(obj, "spec")
    default(spec, revisionHistoryLimit=2)
    rollback = spec.pop("rollbackTo", None)
    if rollback is not None:
        _annotate(obj, _ROLLBACK, rollback.get("revision") or 0)
    else:
        member(obj, "metadata", "annotations").pop(_ROLLBACK, None)


def deployment_of_extensions(obj: Object) -> None:
    """Set the defaults of extensions/v1beta1: keep all revisions, no progress deadline, replace Pods one by one."""
    spec = obj.setdefault("spec", {})
    default(spec, revisionHistoryLimit=_INT32_MAX, progressDeadlineSeconds=_INT32_MAX)
    strategy = _strategy(spec, "strategy")
    default(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = _strategy(strategy, "rollingUpdate")
        rolling |= {name: 1 for name in ("maxUnavailable", "maxSurge") if rolling.get(name) is None}
    deployment(obj)


def _replaced_on_delete(obj: Object) -> None:
    default(_strategy(obj.setdefault("spec", {}), "updateStrategy"), type="OnDelete")


def _strategy(obj: Object, name: str) -> Object:
    found: Object = obj.get(name) or {}
    obj[name] = found
    return found


def _annotate(obj: Object, name: str, number: int) -> None:
    metadata = obj.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), name: str(number)}
