"""ValidatingAdmissionPolicy: refuses, warns or annotates requests by policies and their bindings.

Source: apiserver pkg/admission/plugin/policy/validating/dispatcher.go (1.36).
"""

from typing import Any, ClassVar

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.activation import Activation, request_of
from sampan.server.admission.expressions.authority import Authority
from sampan.server.admission.matching.forms import Forms
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest, Surroundings
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.policy.params import ConfigurationError, Params
from sampan.server.admission.policy.policy import Binding, Policies, PolicyHook
from sampan.server.admission.policy.validations import ValidateResult, ValidatingPolicy, ValidationDecision
from sampan.server.admission.refusal import refusal
from sampan.server.authorization.authorizer import Authorizer
from sampan.wire import json as wire_json

_CODES: dict[str, int] = {Reason.FORBIDDEN: 403, Reason.UNAUTHORIZED: 401, Reason.REQUEST_ENTITY_TOO_LARGE: 413}
_UNPROCESSABLE = 422
_ANNOTATION_CHARACTERS_MAX = 10 * 1024
_FAILURE_ANNOTATION = "validation.policy.admission.k8s.io/validation_failure"


class ValidatingAdmissionPolicy:
    """Validating plug-in for policies."""

    name: ClassVar[str] = "ValidatingAdmissionPolicy"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = (
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    )

    def __init__(self, surroundings: Surroundings, authorizer: Authorizer, metrics: AdmissionMetrics) -> None:
        self._surroundings = surroundings
        self._authorizer = authorizer
        self._metrics = metrics
        self._policies = Policies(surroundings.cluster, "validatingadmissionpolicies", ValidatingPolicy)
        self._params = Params(surroundings.cluster)

    def is_configured(self) -> bool:
        """Return True if there are policies with bindings."""
        return self._policies.has_any()

    async def validate(self, attributes: Attributes) -> None:
        """Evaluate the policies. **Raises** the first refusal, with all refusals as causes."""
        policies = await self._policies.all()
        if not policies:
            return
        subject, authority = (
            MatchedRequest(attributes, self._surroundings),
            Authority(self._authorizer, attributes.user),
        )
        review = _Review(subject, authority, params=self._params, metrics=self._metrics)
        for bound in policies:
            await review.evaluate(bound)
        if review.denials:
            raise _denied(attributes, review.denials[0])


class _Denial:
    """Refusal, with its policy and binding."""

    def __init__(self, policy: str, binding: str, text: str, reason: str = "") -> None:
        self.reason = reason
        origin = f"ValidatingAdmissionPolicy '{policy}'" + (f" with binding '{binding}'" if binding else "")
        self.text = f"{origin} denied request: {text}"


class _Review:
    """Evaluation of all policies for one request."""

    def __init__(
        self, subject: MatchedRequest, authority: Authority, *, params: Params, metrics: AdmissionMetrics
    ) -> None:
        self._subject = subject
        self._attributes = subject.attributes
        self._authority = authority
        self._params = params
        self._metrics = metrics
        self._forms = Forms(subject.attributes)
        self.denials: list[_Denial] = []

    async def evaluate(self, bound: PolicyHook[ValidatingPolicy]) -> None:
        """Evaluate a policy for each of its bindings that match the request."""
        policy = bound.policy
        try:
            matched = policy.criteria.match(self._subject)
            if matched is None:
                return
            self._params.check(policy.param_kind)
        except (ConfigurationError, StatusError) as error:
            self._misconfigured(policy, None, error)
            return
        annotations: dict[str, list[str]] = {}
        for binding in bound.bindings:
            for outcome in await self._outcomes(policy, binding, matched):
                self._act(policy, binding, outcome)
                for annotation in outcome.annotations:
                    if annotation.error:
                        self.denials.append(_Denial(policy.name, binding.name, annotation.error))
                        continue
                    values = annotations.setdefault(annotation.key, [])
                    value = annotation.value[:_ANNOTATION_CHARACTERS_MAX]
                    if value not in values:
                        values.append(value)
        for key, values in annotations.items():
            self._attributes.annotations.setdefault(f"{policy.name}/{key}", ", ".join(values))

    def _misconfigured(self, policy: ValidatingPolicy, binding: Binding | None, error: Exception) -> None:
        if not policy.fails_open:
            what = "policy" if binding is None else "binding"
            name = "" if binding is None else binding.name
            self.denials.append(_Denial(policy.name, name, f"failed to configure {what}: {error}"))

    async def _outcomes(self, policy: ValidatingPolicy, binding: Binding, matched: Equivalent) -> list[ValidateResult]:
        subject = self._subject
        try:
            if binding.criteria is not None and binding.criteria.match(subject) is None:
                return []
            found = self._params.collect(policy.param_kind, binding.param_ref, subject.namespace)
            if not found:
                return []
            versioned = await self._forms.of(matched)
        except (ConfigurationError, StatusError) as error:
            self._misconfigured(policy, binding, error)
            return []
        namespace, request = subject.namespace_object(), request_of(self._attributes, matched)

        def activation(params: Object | None) -> Activation:
            authority, attributes = self._authority, self._attributes
            return Activation(versioned, request, authority, attributes, params=params, namespace=namespace)

        record = self._metrics.conditions.recorder(policy.name, "policy", "validate", self._attributes.operation)
        return [await policy.evaluate(activation(params), record) for params in found]

    def _act(self, policy: ValidatingPolicy, binding: Binding, outcome: ValidateResult) -> None:
        for decision in outcome.decisions:
            if decision.allowed:
                if decision.error:
                    self._observe(policy, binding, decision, "allow")
                continue
            for action in binding.actions:
                self._take(action, policy, binding, decision)

    def _take(self, action: str, policy: ValidatingPolicy, binding: Binding, decision: ValidationDecision) -> None:
        attributes = self._attributes
        self._observe(policy, binding, decision, action.lower())
        if action == "Deny":
            self.denials.append(_Denial(policy.name, binding.name, decision.message, decision.reason))
        elif action == "Warn":
            origin = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
            attributes.warnings.append(f"Validation failed for {origin}: {decision.message}")
        elif action == "Audit":
            attributes.annotations.setdefault(_FAILURE_ANNOTATION, _failure(binding, decision))

    def _observe(self, policy: ValidatingPolicy, binding: Binding, decision: ValidationDecision, action: str) -> None:
        labels = (policy.name, binding.name, decision.error_type, action)
        self._metrics.policies.validated(labels, decision.seconds)


def _failure(binding: Binding, decision: ValidationDecision) -> str:
    entries: list[dict[str, Any]] = [
        {
            "message": decision.message,
            "policy": binding.policy_name,
            "binding": binding.name,
            "expressionIndex": decision.number,
            "validationActions": list(binding.actions),
        }
    ]
    return wire_json.encode(entries).decode()


def _denied(attributes: Attributes, denial: _Denial) -> StatusError:
    error = refusal(attributes, denial.text, causes=[{"message": denial.text}])
    reason = denial.reason or Reason.INVALID
    error.reason, error.code = Reason(reason), _CODES.get(reason, _UNPROCESSABLE)
    return error
