"""MutatingAdmissionPolicy: changes objects by policies and their bindings.

Source: apiserver pkg/admission/plugin/policy/mutating/dispatcher.go,
pkg/admission/plugin/policy/generic/policy_dispatcher.go (1.36).
"""

from time import perf_counter
from typing import ClassVar, NamedTuple

from sampan.core.errors import Reason, StatusError
from sampan.core.field import quote
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.schema.structural import Schema
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.activation import Activation, request_of
from sampan.server.admission.expressions.authority import Authority
from sampan.server.admission.expressions.conditions import ConditionsFailed
from sampan.server.admission.matching.forms import Forms
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest, Surroundings
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.policy.mutations import MutatingPolicy, MutationFailed
from sampan.server.admission.policy.params import ConfigurationError, Params
from sampan.server.admission.policy.policy import Binding, Policies, PolicyHook
from sampan.server.admission.refusal import refusal
from sampan.server.admission.reinvocation import Reinvocation
from sampan.server.authorization.authorizer import Authorizer


class MutatingAdmissionPolicy:
    """Mutating plug-in for policies."""

    name: ClassVar[str] = "MutatingAdmissionPolicy"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "CONNECT"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = (
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    )

    def __init__(self, surroundings: Surroundings, authorizer: Authorizer, metrics: AdmissionMetrics) -> None:
        self._surroundings = surroundings
        self._metrics = metrics
        self._authorizer = authorizer
        self._policies = Policies(surroundings.cluster, "mutatingadmissionpolicies", MutatingPolicy)
        self._params = Params(surroundings.cluster)

    def is_configured(self) -> bool:
        """Return True if there are policies with bindings."""
        return self._policies.has_any()

    async def admit(self, attributes: Attributes) -> None:
        """Apply the policies. **Raises** 403 if a policy with failurePolicy Fail cannot be applied."""
        policies = await self._policies.all()
        if not policies:
            return
        authority = Authority(self._authorizer, attributes.user)
        run = _Run(
            MatchedRequest(attributes, self._surroundings), authority, params=self._params, metrics=self._metrics
        )
        invocations = [each for bound in policies for each in run.invocations(bound)]
        if invocations:
            run.reinvocation.begin(attributes)
            try:
                for invocation in invocations:
                    await run.apply(invocation)
            finally:
                run.reinvocation.end(attributes)
        if run.faults:
            raise _refused(attributes, run.faults)


class _Invocation(NamedTuple):
    """Policy to apply for a binding and a parameter."""

    policy: MutatingPolicy
    binding: Binding
    matched: Equivalent
    params: Object | None

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity of the invocation within a request."""
        metadata = (self.params or {}).get("metadata") or {}
        return (self.policy.name, self.binding.name, metadata.get("namespace", ""), metadata.get("name", ""))


class _Fault(NamedTuple):
    """Reason why a policy could not be applied."""

    text: str
    reason: Reason | None


class _Run:
    """One run of the plug-in for one request."""

    def __init__(
        self, subject: MatchedRequest, authority: Authority, *, params: Params, metrics: AdmissionMetrics
    ) -> None:
        self._subject = subject
        self._metrics = metrics
        self._attributes = subject.attributes
        self._authority = authority
        self._params = params
        self._forms = Forms(subject.attributes)
        self.reinvocation = Reinvocation.of(subject.attributes, MutatingAdmissionPolicy.name)
        self.faults: list[_Fault] = []

    def invocations(self, bound: PolicyHook[MutatingPolicy]) -> list[_Invocation]:
        """Return the invocations of a policy for the request."""
        policy, subject = bound.policy, self._subject
        try:
            matched = policy.criteria.match(subject)
            if matched is None:
                return []
            self._params.check(policy.param_kind)
        except (ConfigurationError, StatusError) as error:
            self._fault(policy, None, f"failed to configure policy: {error}")
            return []
        found = []
        for binding in bound.bindings:
            try:
                if binding.criteria is not None and binding.criteria.match(subject) is None:
                    continue
                collected = self._params.collect(policy.param_kind, binding.param_ref, subject.namespace)
            except (ConfigurationError, StatusError) as error:
                self._fault(policy, binding, f"failed to configure binding: {error}")
                continue
            found += [_Invocation(policy, binding, matched, params) for params in collected]
        return found

    def _fault(self, policy: MutatingPolicy, binding: Binding | None, text: str, reason: Reason | None = None) -> None:
        if policy.fails_open:
            return
        origin = (
            f"policy {quote(policy.name)}"
            if binding is None
            else f"policy '{policy.name}' with binding '{binding.name}'"
        )
        self.faults.append(_Fault(f"{origin} denied request: {text}", reason))

    async def apply(self, invocation: _Invocation) -> None:
        """Apply all mutations of a policy, in order. **Raises** `StatusError` for errors that the policy does not
        cause.
        """
        attributes, policy = self._attributes, invocation.policy
        if attributes.obj is None or not await self._is_desired(invocation):
            return
        if attributes.is_reinvocation and not self.reinvocation.is_due(invocation.key):
            return
        before = (await self._forms.of(invocation.matched)).obj
        for mutation in policy.mutations:
            obj = (await self._forms.of(invocation.matched)).obj
            assert obj is not None
            activation = await self._activation(invocation)
            began, failure = perf_counter(), "no_error"
            try:
                changed = await mutation.apply(activation, obj, _schema_of(invocation.matched))
            except MutationFailed as error:
                failure = error.type
                self._fault(policy, invocation.binding, str(error), Reason.INVALID)
                continue
            finally:
                self._metrics.policies.mutated((policy.name, invocation.binding.name, failure), perf_counter() - began)
            if not same(changed, obj):
                await self._forms.put(changed, invocation.matched, strict=mutation.strict)
        if not same((await self._forms.of(invocation.matched)).obj, before):
            self.reinvocation.changed()
            attributes.reinvoke = True
        if policy.may_be_applied_again:
            self.reinvocation.called(invocation.key)

    async def _is_desired(self, invocation: _Invocation) -> bool:
        conditions = invocation.policy.conditions
        if conditions is None:
            return True
        name, operation = invocation.policy.name, self._attributes.operation
        record = self._metrics.conditions.recorder(name, "policy", "validate", operation)
        try:
            return await conditions.match(await self._activation(invocation), record)
        except ConditionsFailed as error:
            self._fault(invocation.policy, invocation.binding, str(error), Reason.INVALID)
            return False

    async def _activation(self, invocation: _Invocation) -> Activation:
        activation = Activation(
            await self._forms.of(invocation.matched),
            request_of(self._attributes, invocation.matched),
            self._authority,
            self._attributes,
            params=invocation.params,
            namespace=self._subject.namespace_object(),
        )
        activation.compose(invocation.policy.variables)
        return activation


def _schema_of(matched: Equivalent) -> Schema:
    """Return the schema of the object. For a kind that only a subresource has, return a schema that allows
    everything.
    """
    endpoint = matched.endpoint
    if matched.gvk.kind == endpoint.definition.kind:
        return endpoint.schema
    return Schema(type="object", preserve_unknown_fields=True)


def _refused(attributes: Attributes, faults: list[_Fault]) -> StatusError:
    """Return a 403 with the text of the first fault. The reason is Invalid if an expression failed."""
    causes = [{"message": fault.text} for fault in faults]
    error = refusal(attributes, "admission request denied by policy", causes=causes)
    error.message = faults[0].text
    error.reason = faults[0].reason or error.reason
    return error
