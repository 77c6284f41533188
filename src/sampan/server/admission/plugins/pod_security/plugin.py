"""The plug-in: refuses Pods, and warns of Pod templates and of existing Pods in a namespace that becomes stricter.

Source: k8s.io/pod-security-admission admission/admission.go, kubernetes plugin/pkg/admission/security/podsecurity
(1.36).
"""

from typing import Any, ClassVar, Final

from sampan.core.errors import forbidden, invalid
from sampan.core.field import FieldError, aggregate, quote
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.metrics.pod_security import PodSecurityMetrics
from sampan.server.admission.plugins.pod_security.configuration import read_configuration
from sampan.server.admission.plugins.pod_security.evaluator import Evaluator, details
from sampan.server.admission.plugins.pod_security.existing import existing_pods, warnings_of_existing
from sampan.server.admission.plugins.pod_security.policy import (
    MODES,
    PREFIX,
    PRIVILEGED,
    LevelVersion,
    NamespaceLevels,
    policy_of,
    shown_version,
)
from sampan.server.admission.pods import POD, containers

_NAMESPACE: Final = ("", "namespaces")
_TEMPLATES: Final = {
    ("", "replicationcontrollers"): ("spec", "template"),
    ("", "podtemplates"): ("template",),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("apps", "daemonsets"): ("spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}
_ENFORCED: Final = f"{PREFIX}enforce-policy"
_PRIVILEGED: Final = str(LevelVersion())
_IGNORED: Final = frozenset({"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"})


class PodSecurity:
    """Validating plug-in."""

    name: ClassVar[str] = "PodSecurity"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({_NAMESPACE, POD, *_TEMPLATES})

    def __init__(self, reader: CacheReader, configuration: Object, metrics: PodSecurityMetrics) -> None:
        """Read the configuration. **Raises** `ValueError` if it is invalid."""
        self._reader = reader
        self._configuration = read_configuration(configuration)
        self._evaluator = Evaluator()
        self._metrics = metrics
        self._policies = DerivedCache(reader, *_NAMESPACE, self._policy_of)
        self._unknown = self._configuration.defaults, list[FieldError]()

    async def validate(self, attributes: Attributes) -> None:
        """Check Pods and namespaces. **Raises** 403 for a Pod, 422 for invalid labels of a namespace."""
        resource = (attributes.gvr.group, attributes.gvr.resource)
        if resource == POD:
            self._validate_pod(attributes)
        elif attributes.subresource or attributes.obj is None:
            return
        elif resource == _NAMESPACE:
            self._validate_namespace(attributes, attributes.obj)
        else:
            self._validate_template(attributes, _template(attributes.obj, _TEMPLATES[resource]))

    def _policy_in(self, namespace: str) -> tuple[NamespaceLevels, list[FieldError]]:
        return self._policies.get(namespace) or self._unknown

    def _policy_of(self, namespace: Object) -> tuple[NamespaceLevels, list[FieldError]]:
        return policy_of(namespace["metadata"].get("labels") or {}, self._configuration.defaults)

    def _is_exempt(self, attributes: Attributes) -> bool:
        if attributes.namespace in self._configuration.namespaces:
            reason = "namespace"
        elif attributes.user is not None and attributes.user.name in self._configuration.usernames:
            reason = "user"
        else:
            return False
        self._exempt(attributes, reason)
        return True

    def _exempt(self, attributes: Attributes, reason: str) -> None:
        attributes.annotations[f"{PREFIX}exempt"] = reason
        self._metrics.exemptions.add(_labels(attributes))

    def _decided(self, decision: str, desired: LevelVersion, mode: str, attributes: Attributes) -> None:
        self._metrics.evaluations.add((decision, desired.level, shown_version(desired), mode, *_labels(attributes)))

    def _validate_pod(self, attributes: Attributes) -> None:
        pod = attributes.obj
        if attributes.subresource in _IGNORED or pod is None or self._is_exempt(attributes):
            return
        policy, faults = self._policy_in(attributes.namespace)
        if not faults and policy.is_privileged:
            attributes.annotations[_ENFORCED] = _PRIVILEGED
            self._decided("allow", policy.enforce, "enforce", attributes)
            return
        if attributes.old is not None and not _is_significant(pod["spec"], attributes.old["spec"]):
            return
        self._evaluate(attributes, (policy, faults), (pod["metadata"], pod["spec"]), enforces=True)

    def _validate_template(self, attributes: Attributes, template: Object | None) -> None:
        if template is None or self._is_exempt(attributes):
            return
        policy, faults = self._policy_in(attributes.namespace)
        if not faults and policy.warn.level == PRIVILEGED and policy.audit.level == PRIVILEGED:
            return
        parts = template.get("metadata") or {}, template.get("spec") or {}
        self._evaluate(attributes, (policy, faults), parts, enforces=False)

    def _evaluate(
        self,
        attributes: Attributes,
        desired: tuple[NamespaceLevels, list[FieldError]],
        parts: tuple[Object, Object],
        *,
        enforces: bool,
    ) -> None:
        (policy, faults), annotations = desired, attributes.annotations
        if parts[1].get("runtimeClassName") in self._configuration.runtime_classes:
            self._exempt(attributes, "runtimeClass")
            return
        if faults:
            annotations[f"{PREFIX}error"] = f"Failed to parse policy: {aggregate(faults)}"
            self._metrics.errors.add(("false", *_labels(attributes)))
        texts: dict[LevelVersion, str] = {}
        for level in dict.fromkeys(policy if enforces else policy[1:]):
            texts[level] = details(self._evaluator.violations(level, *parts))
        if enforces:
            annotations[_ENFORCED] = str(policy.enforce)
            self._decided("deny" if texts[policy.enforce] else "allow", policy.enforce, "enforce", attributes)
        if texts[policy.audit]:
            text = f"would violate PodSecurity {quote(str(policy.audit))}: {texts[policy.audit]}"
            annotations[f"{PREFIX}audit-violations"] = text
            self._decided("deny", policy.audit, "audit", attributes)
        if enforces and texts[policy.enforce]:
            text = f"violates PodSecurity {quote(str(policy.enforce))}: {texts[policy.enforce]}"
            raise forbidden(attributes.gvr.group_resource, attributes.name, text)
        if texts[policy.warn]:
            text = f"would violate PodSecurity {quote(str(policy.warn))}: {texts[policy.warn]}"
            attributes.warnings.append(text)
            self._decided("deny", policy.warn, "warn", attributes)

    def _validate_namespace(self, attributes: Attributes, namespace: Object) -> None:
        labels = namespace["metadata"].get("labels") or {}
        policy, faults = self._policy_of(namespace)
        name = namespace["metadata"].get("name", "")
        is_exempt = name in self._configuration.namespaces
        old = attributes.old
        before: tuple[NamespaceLevels, list[FieldError]] = (NamespaceLevels(), [])
        if old is not None:
            before = self._policy_of(old)
        if faults and (old is None or faults != before[1]):
            raise invalid(GroupKind("", "Namespace"), name, faults)
        if old is not None and not _is_stricter(policy.enforce, before[0].enforce):
            return
        if is_exempt:
            self._warn_of_exemption(attributes, policy, labels)
        elif old is not None:
            pods = existing_pods(self._reader.records(*POD, name), self._configuration.runtime_classes)
            attributes.warnings.extend(warnings_of_existing(self._evaluator, pods, policy.enforce, name))

    def _warn_of_exemption(self, attributes: Attributes, policy: NamespaceLevels, labels: dict[str, Any]) -> None:
        if policy.is_privileged or policy.is_equivalent(self._configuration.defaults):
            return
        modes = ", ".join(
            f"{mode}={level}"
            for mode, level in zip(MODES, policy, strict=True)
            if level.level != PRIVILEGED and (PREFIX + mode in labels or f"{PREFIX}{mode}-version" in labels)
        )
        attributes.warnings.append(
            f"namespace {quote(attributes.name)} is exempt from Pod Security, and the policy ({modes}) will be ignored"
        )


def _labels(attributes: Attributes) -> tuple[str, str, str]:
    """Return the metric labels of the request."""
    is_pod = (attributes.gvr.group, attributes.gvr.resource) == POD
    return attributes.operation.lower(), "pod" if is_pod else "controller", attributes.subresource


def _is_stricter(new: LevelVersion, old: LevelVersion) -> bool:
    """Return True if the new level may refuse Pods that the old one allowed."""
    if new == old or new.level == PRIVILEGED:
        return False
    return new.minor != old.minor or new.strictness > old.strictness


def _template(obj: Object, path: tuple[str, ...]) -> Object | None:
    found: Any = obj
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _is_significant(spec: Object, old: Object) -> bool:
    """Return True if an image or a container was added."""
    for field in ("containers", "initContainers"):
        if len(spec.get(field) or ()) != len(old.get(field) or ()):
            return True
    before = {each.get("name"): each.get("image") for each in containers(old)}
    return any(
        each.get("name") not in before or before[each.get("name")] != each.get("image") for each in containers(spec)
    )
