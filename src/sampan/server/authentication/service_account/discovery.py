"""OpenID discovery of the service account issuer. Other systems fetch the keys here to verify tokens.

Source: kubernetes pkg/serviceaccount/openidmetadata.go, pkg/routes/openidmetadata.go (1.36).
"""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import orjson
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from sampan.core.tokens.keys import VerifyingKey
from sampan.server.request import Request, Response
from sampan.server.routes.routes import Routes

CONFIGURATION_PATH = "/.well-known/openid-configuration"
JWKS_PATH = "/openid/v1/jwks"
_KEYSET = "application/jwk-set+json"
_MAX_AGE_S = 3600
_CACHE = (b"Cache-Control", f"public, max-age={_MAX_AGE_S}".encode())


class IssuerDiscovery:
    """Serves the discovery document and the keys. Without an https issuer it serves nothing, because OpenID requires
    https.
    """

    def __init__(
        self, issuer: str, keys: Sequence[VerifyingKey], address: Callable[[], str], *, jwks_uri: str = ""
    ) -> None:
        """`address` returns host and port of this server, for the URL of the keys if `jwks_uri` is empty."""
        self._issuer = issuer
        self.keys = tuple(keys)
        self._address = address
        self._jwks_uri = jwks_uri

    def install(self, routes: Routes) -> None:
        """Add both paths to the routes."""
        url = urlsplit(self._issuer)
        if url.scheme == "https" and not url.query and not url.fragment:
            routes.add_service(CONFIGURATION_PATH, self._configuration)
            routes.add_service(JWKS_PATH, self._keyset, _KEYSET)

    async def _configuration(self, request: Request) -> Response:
        document = {
            "issuer": self._issuer,
            "jwks_uri": self._jwks_uri or f"https://{self._address()}{JWKS_PATH}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key.algorithm for key in self.keys}),
        }
        return Response(200, orjson.dumps(document), headers=[_CACHE])

    async def _keyset(self, request: Request) -> Response:
        body = orjson.dumps({"keys": [_jwk(key) for key in self.keys]})
        return Response(200, body, _KEYSET, headers=[_CACHE])


def _jwk(key: VerifyingKey) -> dict[str, object]:
    if isinstance(key.key, rsa.RSAPublicKey):
        found = RSAAlgorithm.to_jwk(key.key, as_dict=True)
    else:
        found = ECAlgorithm.to_jwk(key.key, as_dict=True)
    named = {"use": "sig", "kid": key.key_id, "alg": key.algorithm}
    return {**named, **{name: found[name] for name in ("kty", "crv", "x", "y", "n", "e") if name in found}}
