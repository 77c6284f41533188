"""The seam of authorization."""

import enum
from typing import NamedTuple, Protocol

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


ALLOWED = Verdict(Decision.ALLOW)
NO_OPINION = Verdict(Decision.NO_OPINION)


class Authorizer(Protocol):
    """Decides on one request; also asked on behalf of others (SubjectAccessReview), hence no `Request`."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Raises `StatusError` when it cannot decide."""
