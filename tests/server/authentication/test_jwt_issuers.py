"""JWTs of an issuer outside: a real one, over HTTPS with its own CA and keys that change."""

import datetime
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import orjson
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from sampan.server.authentication.authenticator import TokenError, TokenUser
from sampan.server.authentication.jwt.configuration import JwtIssuer, parse_configuration
from sampan.server.authentication.jwt.configured import ConfiguredIssuers, IssuerRules, OnFetch
from sampan.server.authentication.jwt.https import HttpsGet
from sampan.server.authentication.jwt.keys import REFETCH_INTERVAL_S, IssuerKeys
from tests.server.authentication.https_server import HttpsServer, https_server

NOW = int(datetime.datetime.now(datetime.UTC).timestamp())
DAY_S = 86_400
FIRST, SECOND = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)
PLAIN: dict[str, Any] = {"username": {"claim": "sub", "prefix": "oidc:"}}


@dataclass
class Issuer:
    """Issuer with changing keys, and the authenticator of its tokens."""

    server: HttpsServer
    jwks: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def publish(self, *keys: tuple[str, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey]) -> None:
        """Have these keys and no others."""
        self.jwks[:] = [{**_jwk(key), "kid": name, "use": "sig"} for name, key in keys]

    def token(self, key: Any = FIRST, kid: str = "1", /, **claims: Any) -> str:
        """A token; claims that are None are left out."""
        alg = "ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "RS256"
        values = {"iss": self.server.url, "aud": "sampan", "sub": "jane", "exp": NOW + DAY_S, **claims}
        payload = {name: value for name, value in values.items() if value is not None}
        return jwt.encode(payload, key, alg, headers={"kid": kid})

    def configuration(self, mappings: Any = None, **parts: Any) -> bytes:
        """An AuthenticationConfiguration that names this issuer."""
        issuer = {"url": self.server.url, "certificateAuthority": self.server.ca_pem, "audiences": ["sampan"]}
        one = {"issuer": issuer, "claimMappings": mappings or PLAIN, **parts}
        return _file([one])

    def keys(self, spec: JwtIssuer, on_fetch: OnFetch) -> IssuerKeys:
        """Its keys, by a clock of the test's."""
        get = HttpsGet(spec.issuer.certificate_authority, timeout_s=5)
        return IssuerKeys(spec.issuer.url, get, now=lambda: self.seconds, on_fetch=on_fetch)

    async def believers(self, mappings: Any = None, file: Path | None = None, **parts: Any) -> ConfiguredIssuers:
        """Return the authenticator of its tokens."""
        configuration = parse_configuration(self.configuration(mappings, **parts))
        made = ConfiguredIssuers(configuration, IssuerRules(keys=self.keys), file=file)
        await made.poll()
        return made


def _jwk(key: Any) -> dict[str, Any]:
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)


def _file(issuers: list[Any]) -> bytes:
    document = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": issuers}
    return yaml.safe_dump(document).encode()


@asynccontextmanager
async def issuing(folder: Path) -> AsyncIterator[Issuer]:
    """An issuer with its first key."""
    jwks: list[dict[str, Any]] = []

    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/.well-known/openid-configuration":
            return 200, orjson.dumps({"issuer": server.url, "jwks_uri": f"{server.url}/keys"})
        return (200, orjson.dumps({"keys": jwks})) if path == "/keys" else (404, b"")

    async with https_server(folder, response) as server:
        issuer = Issuer(server, jwks)
        issuer.publish(("1", FIRST))
        yield issuer


async def known(issuers: ConfiguredIssuers, token: str) -> TokenUser:
    """The user of a token that must be good."""
    found = await issuers.authenticate_token(token)
    assert found is not None
    return found


async def fault(issuers: ConfiguredIssuers, token: str) -> str:
    """Return the error for an invalid token."""
    with pytest.raises(TokenError) as caught:
        await issuers.authenticate_token(token)
    return str(caught.value)


async def test_a_claim_with_a_prefix_is_the_user(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        mappings = {**PLAIN, "groups": {"claim": "roles", "prefix": "g:"}, "uid": {"claim": "oid"}}
        issuers = await issuer.believers(mappings)
        user = (await known(issuers, issuer.token(roles=["dev", "ops"], oid="7", jti="t1"))).user
        assert (user.name, user.uid, user.groups) == ("oidc:jane", "7", ("g:dev", "g:ops"))
        assert user.extra == {"authentication.kubernetes.io/credential-id": ("JTI=t1",)}
        assert issuer.server.requested == ["/.well-known/openid-configuration", "/keys"]


async def test_expressions_make_the_user(tmp_path: Path) -> None:
    mappings = {
        "username": {"expression": "claims.sub + '@' + claims.org.name"},
        "groups": {"expression": "dyn(claims.roles).filter(r, r != '').map(r, 'x:' + r)"},
        "uid": {"expression": "claims.?oid.orValue('none')"},
        "extra": [
            {"key": "acme.io/tier", "valueExpression": "claims.tier"},
            {"key": "acme.io/none", "valueExpression": "''"},
        ],
    }
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers(mappings)
        token = issuer.token(org={"name": "acme"}, roles=["dev", ""], tier=["gold", "old"])
        user = (await known(issuers, token)).user
        assert (user.name, user.uid, user.groups) == ("jane@acme", "none", ("x:dev",))
        assert user.extra == {"acme.io/tier": ("gold", "old")}
        assert "resulted in error" in await fault(issuers, issuer.token())


async def test_clock_skew_of_minutes_is_refused(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        token = issuer.token(nbf=int(time.time()) + 240)
        assert "before the nbf (not before) time" in await fault(await issuer.believers(), token)


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        pytest.param({"exp": NOW - 1}, "oidc: verify token: oidc: token is expired", id="expired"),
        pytest.param(
            {"exp": None}, "oidc: token is expired (Token Expiry: the token has no claim exp)", id="without an end"
        ),
        pytest.param({"nbf": NOW + DAY_S}, "before the nbf (not before) time", id="not yet"),
        pytest.param({"exp": 1}, "(Token Expiry: 1970-01-01T00:00:01Z)", id="expired long ago"),
        pytest.param({"sub": 5}, '"sub": json: cannot unmarshal number into Go value of type string', id="no text"),
        pytest.param({"aud": "others"}, 'oidc: expected audience "sampan" got ["others"]', id="for others"),
        pytest.param({"sub": None}, 'oidc: parse username claims "sub": claim not present', id="without a name"),
    ],
)
async def test_wrong_claims_are_refused(tmp_path: Path, claims: dict[str, Any], text: str) -> None:
    async with issuing(tmp_path) as issuer:
        assert text in await fault(await issuer.believers(), issuer.token(**claims))


async def test_rules_about_claims_and_the_user_must_hold(tmp_path: Path) -> None:
    rules: dict[str, Any] = {
        "claimValidationRules": [
            {"claim": "org", "requiredValue": "acme"},
            {"expression": "claims.exp - claims.iat <= 90000", "message": "too long"},
        ],
        "userValidationRules": [{"expression": "!user.username.startsWith('system:')", "message": "reserved"}],
    }
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({"username": {"claim": "sub", "prefix": ""}}, **rules)
        good = {"org": "acme", "iat": NOW}
        assert (await known(issuers, issuer.token(**good))).user.name == "jane"
        assert "required claim org not present" in await fault(issuers, issuer.token(iat=NOW))
        assert "Got = x, want = acme" in await fault(issuers, issuer.token(org="x", iat=NOW))
        assert "failed: too long" in await fault(issuers, issuer.token(**{**good, "exp": NOW + 2 * DAY_S}))
        assert "failed: reserved" in await fault(issuers, issuer.token(**good, sub="system:admin"))


async def test_an_error_of_an_expression_names_its_purpose(tmp_path: Path) -> None:
    mappings = {
        "username": {"claim": "sub", "prefix": ""},
        "groups": {"expression": "claims.roles"},
        "extra": [{"key": "acme.io/tier", "valueExpression": "claims.tier"}],
    }
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers(mappings, claimValidationRules=[{"expression": "claims.good == true"}])
        missing = await fault(issuers, issuer.token())
        assert missing == (
            "oidc: error evaluating group claim expression: "
            "expression 'claims.roles' resulted in error: no such key: roles"
        )
        wrong = await fault(issuers, issuer.token(roles=[], tier=5))
        texts = "expression must return a string or a list of strings"
        assert wrong == f"oidc: error evaluating extra claim expression: claims.tier: {texts}"
        rule = await fault(issuers, issuer.token(roles=[], tier=""))
        assert rule.startswith("oidc: error evaluating claim validation expression: expression 'claims.good == true'")


async def test_claims_that_are_null_are_empty(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({**PLAIN, "groups": {"claim": "roles", "prefix": ""}, "uid": {"claim": "oid"}})
        claims = {
            "iss": issuer.server.url,
            "aud": "sampan",
            "sub": "jane",
            "exp": NOW + DAY_S,
            "roles": None,
            "oid": None,
        }
        user = (await known(issuers, jwt.encode(claims, FIRST, "ES256", headers={"kid": "1"}))).user
        assert (user.uid, user.groups) == ("", ())


async def test_numbers_in_claims_are_doubles(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({"username": {"expression": "string(type(claims.n) == double) + claims.sub"}})
        assert (await known(issuers, issuer.token(n=5))).user.name == "truejane"


@pytest.mark.parametrize(
    ("expression", "groups"),
    [
        ("claims.roles", ("a", "b")),
        ("claims.text.split(',').map(r, 'p:' + r)", ("p:a", "p:b")),
        ("dyn(claims.roles).filter(r, r != 'a')", ("b",)),
        ("claims.text.split(',') + ['c']", ("a", "b", "c")),
        ("has(claims.text.inner) ? ['x'] : claims.text.?inner.orValue([])", ()),
        ("claims.exists(value, value == 'a,b') ? 'values' : 'keys'", ("values",)),
    ],
)
async def test_groups_by_expressions(tmp_path: Path, expression: str, groups: tuple[str, ...]) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({**PLAIN, "groups": {"expression": expression}})
        found = await known(issuers, issuer.token(roles=["a", "b"], text="a,b"))
        assert found.user.groups == groups


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("claims.text.split(',')", "expression must return a string or a list of strings"),
        ("true ? claims.text.split(',') : []", "expression must return a string or a list of strings"),
        ("claims.text.findAll('[a-z]') + []", "expression must return a string or a list of strings"),
        ("claims.text.inner", "expression 'claims.text.inner' resulted in error: no such key: inner"),
        ("claims.roles.x", "expression 'claims.roles.x' resulted in error: unsupported index type 'string' in list"),
        ("[string('x' in claims)]", "expression '[string('x' in claims)]' resulted in error: no such overload"),
        ("[string(size(claims))]", "expression '[string(size(claims))]' resulted in error: no such overload: size"),
    ],
)
async def test_expressions_without_groups_are_reported(tmp_path: Path, expression: str, text: str) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({**PLAIN, "groups": {"expression": expression}})
        values = await fault(issuers, issuer.token(roles=["a", "b"], text="a,b"))
        assert values == f"oidc: error evaluating group claim expression: {text}"


async def test_a_claim_must_be_cast_to_a_list_before_iteration(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        with pytest.raises(ValueError, match="expression of type 'any' cannot be range of a comprehension"):
            await issuer.believers({**PLAIN, "groups": {"expression": "claims.roles.map(r, r)"}})


async def test_claims_with_dots_are_selected_by_their_identifiers(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({"username": {"expression": "claims.acme__dot__io__slash__x.a__dash__b"}})
        token = issuer.token(**{"acme.io/x": {"a-b": "jane"}})
        assert (await known(issuers, token)).user.name == "jane"


async def test_an_unverified_address_is_refused(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers({"username": {"claim": "email", "prefix": ""}})
        token = issuer.token(email="j@acme.io", email_verified=False)
        assert await fault(issuers, token) == "oidc: email not verified"


async def test_new_keys_are_fetched_when_a_token_names_one(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers()
        await known(issuers, issuer.token())
        issuer.publish(("1", FIRST), ("2", SECOND))
        issuer.seconds += REFETCH_INTERVAL_S
        await known(issuers, issuer.token(SECOND, "2"))
        issuer.publish(("2", SECOND))
        assert issuer.server.requested.count("/keys") == 2


async def test_unknown_keys_do_not_cause_repeated_fetches(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers()
        for number in range(20):
            issuer.seconds += 0.01
            assert "failed to verify signature" in await fault(issuers, issuer.token(SECOND, f"k{number}"))
        assert issuer.server.requested.count("/keys") == 1


async def test_a_token_signed_with_the_public_key_is_refused(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        claims = {"iss": issuer.server.url, "aud": "sampan", "sub": "jane", "exp": NOW + DAY_S}
        forged = jwt.encode(claims, "k" * 64, "HS256", headers={"kid": "1"})
        assert "unsupported algorithm" in await fault(await issuer.believers(), forged)


async def test_tokens_of_other_issuers_are_unknown(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        issuers = await issuer.believers()
        assert await issuers.authenticate_token(issuer.token(iss="https://other")) is None
        assert await issuers.authenticate_token("opaque") is None


async def test_an_unreachable_issuer_does_not_delay_other_tokens(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        dead = {
            "issuer": {"url": "https://127.0.0.1:1", "audiences": ["x"]},
            "claimMappings": PLAIN,
        }
        alive = yaml.safe_load(issuer.configuration())["jwt"][0]
        issuers = ConfiguredIssuers(parse_configuration(_file([dead, alive])), IssuerRules(keys=issuer.keys))
        assert await fault(issuers, issuer.token()) == "oidc: authenticator not initialized"
        await issuers.poll()
        assert (await known(issuers, issuer.token())).user.name == "oidc:jane"
        late = issuer.token(iss="https://127.0.0.1:1")
        assert await fault(issuers, late) == "oidc: authenticator not initialized"


async def test_a_discovery_document_of_another_issuer_is_refused(tmp_path: Path) -> None:
    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        return 200, orjson.dumps({"issuer": "https://other", "jwks_uri": "https://other/keys"})

    async with https_server(tmp_path, response) as server:
        issuer = Issuer(server)
        assert "not initialized" in await fault(await issuer.believers(), issuer.token())


async def test_a_new_configuration_applies_when_its_issuers_are_ready(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        file = tmp_path / "config.yaml"
        file.write_bytes(issuer.configuration())
        issuers = await issuer.believers(file=file)
        file.write_bytes(b"kind: Nonsense")
        await issuers.poll()
        assert (await known(issuers, issuer.token())).user.name == "oidc:jane"
        file.write_bytes(issuer.configuration({"username": {"claim": "sub", "prefix": "new:"}}))
        await issuers.poll()
        assert (await known(issuers, issuer.token())).user.name == "new:jane"
