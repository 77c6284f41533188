"""`TokenService`: the issuer and the authenticators of tokens, for the verbs that create and review tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.server.authentication.authenticator import TokenAuthenticator, TokenError, TokenUser, common
from sampan.server.authentication.bearer_token import find_token_user
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.discovery import IssuerDiscovery
from sampan.server.authentication.service_account.issuer import TokenIssuer


class AudienceError(Exception):
    """An authenticator returned none of the requested audiences."""


@dataclass(frozen=True, slots=True)
class TokenService:
    """Issues and reviews tokens. The default one has no tokens."""

    tokens: Sequence[TokenAuthenticator] = ()
    api_audiences: tuple[str, ...] = ()
    """Audiences of a token that names none, and the default audiences of a TokenRequest and a TokenReview."""
    issuer: TokenIssuer | None = None
    """None if this server issues no tokens."""
    discovery: IssuerDiscovery | None = None
    counts: TokenCounts = field(default_factory=TokenCounts)
    """Counters of service account tokens."""

    async def review(self, token: str, audiences: tuple[str, ...]) -> TokenUser:
        """Return the user of a token and the matching audiences. Raises `TokenError`, `AudienceError`."""
        desired = audiences or self.api_audiences
        found, _ = await find_token_user(self.tokens, token, desired)
        if found.audiences is None:
            agreed = common(desired, self.api_audiences)
            if desired and not agreed:
                raise TokenError("invalid bearer token")
            return TokenUser(found.user, agreed)
        if desired and not common(desired, found.audiences):
            raise AudienceError
        return found
