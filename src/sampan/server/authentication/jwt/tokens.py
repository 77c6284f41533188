"""`JwtTokens`: the authenticator of one issuer's tokens.

Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go (1.36).
"""

from collections.abc import Callable, Sequence

from sampan.core.clock import monotonic, unix_time
from sampan.core.event_loop.offload import offloaded
from sampan.server.authentication.authenticator import TokenError, TokenUser
from sampan.server.authentication.compact_jwt import issuer_of, untrusted_claims
from sampan.server.authentication.jwt.claims import user_of
from sampan.server.authentication.jwt.distributed import DistributedClaim
from sampan.server.authentication.jwt.https import FetchError
from sampan.server.authentication.jwt.keys import IssuerKeys
from sampan.server.authentication.jwt.validation import CompiledIssuer
from sampan.server.authentication.jwt.verifier import ALGORITHMS, IdTokenVerifier
from sampan.server.authentication.metrics import IssuerMetrics


class JwtTokens:
    """Authenticates the tokens of one issuer."""

    cacheable = True

    def __init__(
        self,
        issuer: CompiledIssuer,
        keys: IssuerKeys,
        *,
        algorithms: Sequence[str] = ALGORITHMS,
        now: Callable[[], float] = unix_time,
        metrics: IssuerMetrics | None = None,
    ) -> None:
        self.keys = keys
        self.url = issuer.spec.issuer.url
        self._issuer = issuer
        self._metrics = metrics or IssuerMetrics()
        audiences, groups = issuer.spec.issuer.audiences, issuer.spec.claim_mappings.groups.claim

        def verifier(of: IssuerKeys) -> IdTokenVerifier:
            return IdTokenVerifier(of, audiences, algorithms, now)

        self._verifier = verifier(keys)
        self._groups = DistributedClaim(groups, keys, verifier) if groups else None

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown."""
        claimed = await offloaded(untrusted_claims, token)
        if claimed is None or issuer_of(claimed) != self.url:
            return None
        began, result = monotonic(), "failure"
        try:
            found = await self._user(token)
            result = "success"
        finally:
            self._metrics.verified(self.url, result, monotonic() - began)
        return found

    async def _user(self, token: str) -> TokenUser:
        if not self.keys.ready:
            raise TokenError("oidc: authenticator not initialized")
        try:
            claims = await self._verifier.verified(token)
        except (TokenError, FetchError) as error:
            raise TokenError(f"oidc: verify token: {error}") from None
        if self._groups is not None:
            try:
                await self._groups.expand(claims)
            except (TokenError, FetchError) as error:
                raise TokenError(f"oidc: could not expand distributed claims: {error}") from None
        return TokenUser(user_of(self._issuer, claims))
