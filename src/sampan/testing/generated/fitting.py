"""Fields that depend on each other in built-in kinds: they are made to fit, so that few objects need repair."""

from collections.abc import Iterator
from typing import Any, Final

from sampan.core.object import Object

_DEADLINE: Final = 600
"""Seconds of the deadline that a Deployment has by default."""


def fit(body: Object) -> None:
    """Make the fields of a new object fit."""
    spec = body.get("spec")
    if isinstance(spec, dict):
        fit_labels(body)
        _fit_rollout(spec)
        for each in _specs(spec):
            _fit_completion(each)
            if isinstance(each.get("containers"), list):
                _fit_pod(each)


def _specs(spec: Object) -> Iterator[Object]:
    """Yield a spec and those of its templates."""
    yield spec
    for name in ("template", "jobTemplate"):
        below = (spec.get(name) or {}).get("spec")
        if isinstance(below, dict):
            yield from _specs(below)


def _fit_rollout(spec: Object) -> None:
    """The deadline of a Deployment is later than the time after which a Pod is available."""
    ready, deadline = spec.get("minReadySeconds"), spec.get("progressDeadlineSeconds")
    if isinstance(deadline, int) and isinstance(ready, int) and deadline <= ready:
        spec["progressDeadlineSeconds"] = ready + 1
    elif isinstance(ready, int) and deadline is None and ready >= _DEADLINE:
        spec["minReadySeconds"] = ready % _DEADLINE
    strategy = spec.get("strategy")
    if isinstance(strategy, dict) and strategy.get("type") == "Recreate":
        strategy.pop("rollingUpdate", None)


def _fit_completion(spec: Object) -> None:
    """Only a Job with indexes has fields for each index."""
    if spec.get("completionMode") != "Indexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            spec.pop(name, None)
    else:
        spec.setdefault("completions", 1)


def _fit_pod(spec: Object) -> None:
    """Mounts are those of the volumes of the Pod. Claims for devices need more than the Pod, so there are none."""
    _without(spec.get("resources"), "claims")
    volumes = [each["name"] for each in spec.get("volumes") or () if each.get("name")]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        _fit_container(container)
        if not volumes:
            container.pop("volumeMounts", None)
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            mount["name"] = volumes[number % len(volumes)]
    for toleration in spec.get("tolerations") or ():
        _fit_toleration(toleration)


def _fit_container(container: Object) -> None:
    container.pop("volumeDevices", None)
    _without(container.get("resources"), "claims")
    _without(container.get("readinessProbe"), "terminationGracePeriodSeconds")
    for name in ("livenessProbe", "startupProbe"):
        _without(container.get(name), "successThreshold")
    if "restartPolicyRules" in container:
        container.setdefault("restartPolicy", "Never")


def _fit_toleration(toleration: Object) -> None:
    """Without a key, a Pod tolerates all. Seconds are those until the Pod is evicted."""
    if not toleration.get("key"):
        toleration["operator"] = "Exists"
    if toleration.get("operator") == "Exists":
        toleration.pop("value", None)
    if "tolerationSeconds" in toleration:
        toleration["effect"] = "NoExecute"


def _without(value: Object | None, name: str) -> None:
    if value is not None:
        value.pop(name, None)


def fit_labels(body: Object) -> None:
    """Give the Pods of a workload the labels that its selector demands. Drop conditions that no Pod can meet."""
    spec = body.get("spec") or {}
    selector, template = spec.get("selector") or {}, spec.get("template") or {}
    if not isinstance(selector.get("matchLabels"), dict) or not isinstance(template.get("metadata"), dict):
        return
    labels: dict[str, Any] = {**(template["metadata"].get("labels") or {}), **selector["matchLabels"]}
    for each in selector.get("matchExpressions") or ():
        if each["operator"] in ("In", "Exists"):
            labels.setdefault(each["key"], (each.get("values") or [""])[0])
        elif each["key"] not in selector["matchLabels"]:
            labels.pop(each["key"], None)
    fitting = [each for each in selector.get("matchExpressions") or () if _holds(each, labels)]
    if fitting:
        selector["matchExpressions"] = fitting
    else:
        selector.pop("matchExpressions", None)
    template["metadata"]["labels"] = labels


def _holds(condition: Object, labels: dict[str, Any]) -> bool:
    operator, key = condition["operator"], condition["key"]
    if operator == "In":
        return labels.get(key) in condition["values"]
    if operator == "NotIn":
        return labels.get(key) not in condition["values"]
    return (key in labels) is (operator == "Exists")
