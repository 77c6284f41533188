"""Health and version are for everybody, known or not.

Source: the roles system:public-info-viewer and system:discovery, rbac/bootstrappolicy (1.36).
"""

from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import RequestInfo, UserInfo

_HEALTH = ("/healthz", "/livez", "/readyz")
_EXACT = frozenset({*_HEALTH, "/version", "/version/"})
_PREFIXES = tuple(f"{path}/" for path in _HEALTH)


class PublicPathsAuthorizer:
    """Allows reading /healthz, /livez, /readyz (also single checks) and /version."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        if info.is_resource or info.verb not in ("get", "head"):
            return NO_OPINION
        return ALLOWED if info.path in _EXACT or info.path.startswith(_PREFIXES) else NO_OPINION
