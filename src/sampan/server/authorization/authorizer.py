"""Protocols of authorizers, and their decisions."""

import enum
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from sampan.core.policy_rules import Rule
from sampan.server.request import RequestInfo, UserInfo


class Decision(enum.Enum):
    """Decision of an authorizer."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"
    """The next authorizer decides. If the last one has no opinion, the request is refused."""


class Verdict(NamedTuple):
    """Decision and a human-readable reason."""

    decision: Decision
    reason: str = ""
    error: str = ""
    """Error during the decision. Access reviews return it."""


ALLOWED = Verdict(Decision.ALLOW)
NO_OPINION = Verdict(Decision.NO_OPINION)


class Authorizer(Protocol):
    """Decides if a user may send a request. It has no `Request` parameter, because SubjectAccessReviews use it for
    other users.
    """

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Return the verdict. Raises `StatusError` if no decision is possible."""


@runtime_checkable
class DecisionCounting(Protocol):
    """Counts the decisions of authorizers that have a `title` (type and name)."""

    decisions: dict[tuple[str, str, str], int]
    """Counts by type, name and decision (allowed, denied)."""


@dataclass(slots=True)
class RulesFound:
    """Rules of a user in a namespace, as far as they can be listed."""

    rules: tuple[Rule, ...] = ()
    incomplete: bool = False
    """True if there may be more rules."""
    errors: tuple[str, ...] = ()


@runtime_checkable
class RuleResolver(Protocol):
    """Authorizer that can list what it allows."""

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return the user's rules in a namespace, including those for the whole cluster."""
