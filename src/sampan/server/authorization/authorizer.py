"""The seam of authorization."""

import enum
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from sampan.core.policy_rules import Rule
from sampan.server.request import RequestInfo, UserInfo


class Decision(enum.Enum):
    """What an authorizer says."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"
    """Ask the next one; the last one's silence refuses."""


class Verdict(NamedTuple):
    """A decision and, for people, why."""

    decision: Decision
    reason: str = ""
    error: str = ""
    """What went wrong on the way to the decision; access reviews show it."""


ALLOWED = Verdict(Decision.ALLOW)
NO_OPINION = Verdict(Decision.NO_OPINION)


class Authorizer(Protocol):
    """Decides on one request; also asked on behalf of others (SubjectAccessReview), hence no `Request`."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Raises `StatusError` when it cannot decide."""


@runtime_checkable
class DecisionCounting(Protocol):
    """Counts what others have decided. An authorizer with a `title` (its type and its name) is counted."""

    decisions: dict[tuple[str, str, str], int]
    """How often, by type, name and decision (allowed, denied)."""


@dataclass(slots=True)
class RulesFound:
    """What a user may do in a namespace, as far as it can be listed."""

    rules: tuple[Rule, ...] = ()
    incomplete: bool = False
    """Whether there may be more."""
    errors: tuple[str, ...] = ()


@runtime_checkable
class RuleResolver(Protocol):
    """An authorizer that can list what it allows."""

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """The rules of a user in a namespace, those for the whole cluster included."""
