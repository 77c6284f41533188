"""Authorizers with a constant decision.

Source: apiserver pkg/authorization/authorizerfactory/builtin.go (1.36).
"""

from typing import ClassVar

from sampan.core.policy_rules import Rule
from sampan.server.authorization.authorizer import ALLOWED, Decision, RulesFound, Verdict
from sampan.server.request import RequestInfo, UserInfo

_EVERYTHING: tuple[Rule, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_REFUSED = Verdict(Decision.NO_OPINION, "Everything is forbidden.")


class AlwaysAllow:
    """Allows every request."""

    title: ClassVar[tuple[str, str]] = ("AlwaysAllow", "alwaysallow")

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return ALLOWED

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return a rule that allows everything."""
        return RulesFound(_EVERYTHING)


class AlwaysDeny:
    """Has no opinion on any request. A later authorizer may still allow it."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return _REFUSED

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return no rules."""
        return RulesFound()
