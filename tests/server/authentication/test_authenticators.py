"""Authenticators, one by one."""

import datetime

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from sampan.core.errors import StatusError
from sampan.server.authentication.anonymous import ANYWHERE, AnonymousAuthenticator
from sampan.server.authentication.authenticator import TokenError, TokenUser
from sampan.server.authentication.bearer_token import CACHE_TTL_S, BearerTokenAuthenticator
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.static_token import StaticTokenAuthenticator, parse_tokens
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.pki.certificates import CA_LIFETIME, make_ca, make_client
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.request import Request, UserInfo
from tests.server.requests import make_request

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
CA = make_ca("ca", NOW)
VERIFIER = ClientCertificateVerifier([CA.certificate])


async def no_body(limit: int) -> bytes:
    return b""


def request_with(authorization: str | None = None, certificate: bytes | None = None) -> Request:
    headers = {"authorization": authorization} if authorization is not None else {}
    return make_request("GET", "/", "", headers, no_body, client_certificate=certificate)


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Tokens:
    """Token authenticator with one valid token. Counts its calls."""

    cacheable = True

    def __init__(self) -> None:
        self.requested = 0
        self.valid = {"good"}

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        self.requested += 1
        return TokenUser(UserInfo("jane")) if token in self.valid else None


@pytest.mark.parametrize("header", ["Bearer good", "bearer good", "BEARER good", " Bearer good "])
async def test_a_bearer_token_is_read(header: str) -> None:
    user = await BearerTokenAuthenticator([Tokens()]).authenticate(request_with(header))
    assert user is not None
    assert (user.name, user.groups) == ("jane", ("system:authenticated",))


@pytest.mark.parametrize("header", [None, "", "Basic good", "Bearer", "Bearer "])
async def test_other_headers_are_no_token(header: str | None) -> None:
    assert await BearerTokenAuthenticator([Tokens()]).authenticate(request_with(header)) is None


async def test_an_unknown_token_is_refused() -> None:
    with pytest.raises(StatusError) as caught:
        await BearerTokenAuthenticator([Tokens()]).authenticate(request_with("Bearer bad"))
    assert caught.value.code == 401


class Marked(Tokens):
    """Token authenticator that adds annotations to invalid tokens."""

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        raise TokenError("marked as invalid", {"example.com/why": "marked"})


async def test_the_audit_event_has_the_annotations_of_a_refused_token() -> None:
    request = request_with("Bearer good")
    with pytest.raises(StatusError):
        await BearerTokenAuthenticator([Marked()]).authenticate(request)
    assert request.annotations == {"example.com/why": "marked"}


async def test_a_valid_token_is_cached() -> None:
    clock, tokens = Clock(0.0), Tokens()
    authenticator = BearerTokenAuthenticator([tokens], clock)
    assert authenticator.recall(request_with("Bearer good")) is None
    await authenticator.authenticate(request_with("Bearer good"))
    clock.now = CACHE_TTL_S - 0.1
    assert authenticator.recall(request_with("Bearer good")) is not None
    clock.now = CACHE_TTL_S + 0.1
    assert authenticator.recall(request_with("Bearer good")) is None
    assert tokens.requested == 1


async def test_a_token_that_became_invalid_is_removed_from_the_cache() -> None:
    clock, tokens = Clock(0.0), Tokens()
    authenticator = BearerTokenAuthenticator([tokens], clock)
    await authenticator.authenticate(request_with("Bearer good"))
    tokens.valid.clear()
    clock.now = CACHE_TTL_S + 1
    with pytest.raises(StatusError):
        await authenticator.authenticate(request_with("Bearer good"))


async def test_static_tokens_are_distinguished() -> None:
    authenticator = StaticTokenAuthenticator({"a": UserInfo("x"), "b": UserInfo("y")})
    found = [await authenticator.authenticate_token(token) for token in ("a", "b", "", "ab")]
    assert [one.user.name if one else None for one in found] == ["x", "y", None, None]


def test_the_token_file_has_token_name_uid_and_groups() -> None:
    lines = ['t1,jane,u1,"devs,ops"', "t2,joe,u2", "", ",nobody,u3", "t1,jane2,u4,"]
    assert parse_tokens(lines, "f") == {"t1": UserInfo("jane2", "u4", ("",)), "t2": UserInfo("joe", "u2")}
    assert parse_tokens(lines[:1], "f")["t1"].groups == ("devs", "ops")


def test_a_token_file_with_too_few_columns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"token file 'f' must have at least 3 columns .*, found 2"):
        parse_tokens(["t1,jane"], "f")


def certificate(user: str = "jane") -> bytes:
    return make_client(CA, user, ("devs",), NOW).certificate.public_bytes(Encoding.DER)


async def test_a_certificate_names_the_user() -> None:
    authenticator = ClientCertificateAuthenticator(VERIFIER, NOW.timestamp)
    der = certificate()
    user = await authenticator.authenticate(request_with(certificate=der))
    assert user is not None
    assert user.groups == ("devs", "system:authenticated")
    assert authenticator.recall(request_with(certificate=der)) is user


async def test_an_expired_certificate_is_refused_on_an_open_connection() -> None:
    clock = Clock(NOW.timestamp())
    authenticator = ClientCertificateAuthenticator(VERIFIER, clock)
    der = certificate()
    await authenticator.authenticate(request_with(certificate=der))
    clock.now += 366 * 86400
    assert authenticator.recall(request_with(certificate=der)) is None
    with pytest.raises(StatusError):
        await authenticator.authenticate(request_with(certificate=der))


async def test_a_certificate_of_an_expired_ca_is_refused_on_an_open_connection() -> None:
    clock = Clock(NOW.timestamp())
    ca = make_ca("ca", NOW - CA_LIFETIME + datetime.timedelta(days=1))
    authenticator = ClientCertificateAuthenticator(ClientCertificateVerifier([ca.certificate]), clock)
    der = make_client(ca, "jane", (), NOW).certificate.public_bytes(Encoding.DER)
    assert await authenticator.authenticate(request_with(certificate=der)) is not None
    clock.now += 2 * 86400
    assert authenticator.recall(request_with(certificate=der)) is None
    with pytest.raises(StatusError):
        await authenticator.authenticate(request_with(certificate=der))


async def test_a_clock_that_was_wrong_does_not_refuse_a_certificate_forever() -> None:
    clock = Clock(NOW.timestamp())
    authenticator = ClientCertificateAuthenticator(VERIFIER, clock)
    der = certificate()
    assert await authenticator.authenticate(request_with(certificate=der)) is not None
    for jump_s in (20 * 366 * 86400, -20 * 366 * 86400):
        clock.now += jump_s
        assert (authenticator.recall(request_with(certificate=der)) is None) is (jump_s > 0)


def union(anonymous: AnonymousAuthenticator | None = ANYWHERE) -> UnionAuthenticator:
    certificates = ClientCertificateAuthenticator(VERIFIER, NOW.timestamp)
    return UnionAuthenticator([certificates, BearerTokenAuthenticator([Tokens()])], anonymous=anonymous)


async def test_a_request_without_credentials_is_anonymous() -> None:
    user = await union().authenticate(request_with())
    assert user == UserInfo("system:anonymous", groups=("system:unauthenticated",))


async def test_anonymous_can_be_off() -> None:
    assert await union(None).authenticate(request_with()) is None


async def test_a_certificate_comes_before_a_token() -> None:
    user = await union().authenticate(request_with("Bearer good", certificate("cert-user")))
    assert user is not None
    assert user.name == "cert-user"


async def test_a_valid_token_is_accepted_with_an_expired_certificate() -> None:
    expired = ClientCertificateAuthenticator(VERIFIER, lambda: NOW.timestamp() + 366 * 86400)
    both = UnionAuthenticator([expired, BearerTokenAuthenticator([Tokens()])])
    user = await both.authenticate(request_with("Bearer good", certificate()))
    assert user is not None
    assert user.name == "jane"
