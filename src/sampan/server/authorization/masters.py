"""Rights of the group `system:masters`. Source: apiserver pkg/authorization/authorizerfactory/builtin.go (1.36)."""

from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import RequestInfo, UserInfo

MASTERS = "system:masters"


class MastersAuthorizer:
    """Allows everything to the group `system:masters`. Has no opinion on other users."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return ALLOWED if MASTERS in user.groups else NO_OPINION

    def namespaces_of(self, user: UserInfo) -> tuple[str, ...]:
        """Return no namespaces: the rights are for the whole cluster."""
        return ()
