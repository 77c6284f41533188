"""`Identity`: who issues tokens and who knows them, for the verbs that make and review tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.server.authentication.authenticator import TokenAuthenticator, TokenError, TokenUser, common
from sampan.server.authentication.bearer_token import ask
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.discovery import IssuerDiscovery
from sampan.server.authentication.service_account.issuer import TokenIssuer


class AudienceError(Exception):
    """An authenticator has answered for audiences that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Issues and reviews tokens."""

    tokens: Sequence[TokenAuthenticator] = ()
    api_audiences: tuple[str, ...] = ()
    """For whom a token is that names nobody, and whom a request for a token means when it names nobody."""
    issuer: TokenIssuer | None = None
    """None: this server issues no tokens."""
    discovery: IssuerDiscovery | None = None
    counts: TokenCounts = field(default_factory=TokenCounts)
    """What the authenticator of service account tokens has seen."""

    async def review(self, token: str, audiences: tuple[str, ...]) -> TokenUser:
        """Whose token it is, and for which of the wanted audiences. Raises `TokenError`, `AudienceError`."""
        wanted = audiences or self.api_audiences
        found, _ = await ask(self.tokens, token, wanted)
        if found.audiences is None:
            agreed = common(wanted, self.api_audiences)
            if wanted and not agreed:
                raise TokenError("invalid bearer token")
            return TokenUser(found.user, agreed)
        if wanted and not common(wanted, found.audiences):
            raise AudienceError
        return found


NO_IDENTITY = Identity()
