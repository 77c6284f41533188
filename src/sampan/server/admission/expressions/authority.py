"""`Authority`: the variable `authorizer` in expressions, for the user of one request.

An evaluation cannot wait, but an authorizer may have to. So an unknown decision ends the evaluation with
`PendingDecision`. The caller awaits the decision and evaluates the expression again. Decisions are cached for the
request.

Source: apiserver pkg/admission/plugin/authorizer/caching_authorizer.go (1.36).
"""

from sampan.core.errors import StatusError
from sampan.schema.cel.library.authorization import AuthorizationCheck, AuthorizerValue, Decided, ResourceCheckValue
from sampan.server.admission.chain import Attributes
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.request import RequestInfo, UserInfo


class PendingDecision(Exception):
    """The evaluation needs an authorization decision."""

    def __init__(self, question: AuthorizationCheck) -> None:
        super().__init__(question)
        self.question = question


class Authority:
    """Authorization decisions of one request."""

    __slots__ = ("_authorizer", "_known", "_user", "value")

    def __init__(self, authorizer: Authorizer, user: UserInfo | None) -> None:
        self._authorizer = authorizer
        self._user = user or UserInfo("")
        self._known: dict[AuthorizationCheck, Decided] = {}
        self.value = AuthorizerValue(self._decide)
        """Variable `authorizer`."""

    def request_resource(self, attributes: Attributes) -> ResourceCheckValue:
        """Return the variable `authorizer.requestResource`."""
        question = AuthorizationCheck(
            "",
            group=attributes.gvr.group,
            resource=attributes.gvr.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        return ResourceCheckValue(self.value, question)

    async def settle(self, question: AuthorizationCheck) -> None:
        """Get the decision for `question` from the authorizer, and cache the decision or the error."""
        try:
            verdict = await self._authorizer.authorize(self._user_of(question), _info(question))
        except StatusError as error:
            self._known[question] = Decided(False, "", str(error))
            return
        allowed = verdict.decision is Decision.ALLOW
        self._known[question] = Decided(allowed, verdict.reason, "" if allowed else verdict.error)

    def _decide(self, question: AuthorizationCheck) -> Decided:
        known = self._known.get(question)
        if known is None:
            raise PendingDecision(question)
        return known

    def _user_of(self, question: AuthorizationCheck) -> UserInfo:
        if question.service_account is None:
            return self._user
        namespace, name = question.service_account
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return UserInfo(f"system:serviceaccount:{namespace}:{name}", groups=groups)


def _info(question: AuthorizationCheck) -> RequestInfo:
    if question.path:
        return RequestInfo(question.path, question.verb)
    parts = [part for part in (question.resource, question.name, question.subresource) if part]
    return RequestInfo(
        "",
        question.verb,
        is_resource=True,
        group=question.group,
        version="*",
        namespace=question.namespace,
        resource=question.resource,
        subresource=question.subresource,
        name=question.name,
        parts=tuple(parts),
        label_selector=question.label_selector,
        field_selector=question.field_selector,
    )
