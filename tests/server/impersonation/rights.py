"""Authorizer for tests, configured with rights as strings. It records the requests that it authorizes."""

from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import RequestInfo, UserInfo


class Rights:
    """A right is `VERB RESOURCE[/SUBRESOURCE][.GROUP] [NAMESPACE/]NAME`; a name that is left out means all names."""

    def __init__(self, *rights: str) -> None:
        self.rights = set(rights)
        self.requested: list[str] = []
        self.extra: list[dict[str, tuple[str, ...]]] = []

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """See `Authorizer`."""
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        what = f"{info.verb} {resource}.{info.group}" if info.group else f"{info.verb} {resource}"
        named = f"{what} {info.namespace}/{info.name}" if info.namespace else f"{what} {info.name}"
        self.requested.append(named)
        self.extra.append(user.extra)
        return ALLOWED if {what, named} & self.rights else NO_OPINION
