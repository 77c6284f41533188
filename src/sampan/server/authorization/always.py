"""Authorizers that say the same to everybody.

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
    """Everybody may do everything."""

    title: ClassVar[tuple[str, str]] = ("AlwaysAllow", "alwaysallow")

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return ALLOWED

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """All there is."""
        return RulesFound(_EVERYTHING)


class AlwaysDeny:
    """Has nothing good to say of anybody; authorizers behind it may still allow."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return _REFUSED

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Nothing."""
        return RulesFound()
