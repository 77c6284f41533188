"""Front proxy: its headers name the user, and headers of other clients are ignored."""

import datetime

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from sampan.core.errors import StatusError
from sampan.server.authentication.anonymous import ANONYMOUS_USER, AnonymousAuthenticator
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.request_header import RequestHeaderAuthenticator, RequestHeaders
from sampan.server.authentication.static_token import StaticTokenAuthenticator
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.filters.authentication import with_authentication
from sampan.server.incoming import identity_values
from sampan.server.metrics.access import AccessMetrics
from sampan.server.pki.certificates import CA_LIFETIME, KeyPair, make_ca, make_client
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.request import Request, Response, UserInfo
from sampan.wire.http1 import joined
from tests.server.requests import make_request

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
PROXIES, CLIENTS = make_ca("front-proxy-ca", NOW), make_ca("ca", NOW)
HEADERS = RequestHeaders(allowed_names=("front-proxy",))
JANE = {
    "x-remote-user": "jane",
    "x-remote-group": joined("x-remote-group", ["dev", "CN=ops,O=acme"]),
    "x-remote-uid": "7",
}


def certificate(name: str = "front-proxy", ca: KeyPair = PROXIES) -> bytes:
    """A client certificate."""
    return make_client(ca, name, (), NOW).certificate.public_bytes(Encoding.DER)


async def no_body(limit: int) -> bytes:
    return b""


def request_with(headers: dict[str, str], der: bytes | None = None) -> Request:
    """A request."""
    return make_request("GET", "/api", "", dict(headers), no_body, client_certificate=der)


def union(*, anonymous: AnonymousAuthenticator | None = None) -> UnionAuthenticator:
    """Front proxies, client certificates, and the token `good`."""
    tokens = BearerTokenAuthenticator([StaticTokenAuthenticator({"good": UserInfo("bob")})])
    return UnionAuthenticator(
        [
            RequestHeaderAuthenticator(ClientCertificateVerifier([PROXIES.certificate]), HEADERS, NOW.timestamp),
            ClientCertificateAuthenticator(ClientCertificateVerifier([CLIENTS.certificate]), NOW.timestamp),
            tokens,
        ],
        anonymous=anonymous,
    )


async def test_the_proxy_names_the_user() -> None:
    user = await union().authenticate(request_with({**JANE, "x-remote-extra-acme.io%2fscope": "a"}, certificate()))
    assert user == UserInfo("jane", "7", ("dev", "CN=ops,O=acme", "system:authenticated"), {"acme.io/scope": ("a",)})


async def test_without_a_certificate_headers_name_no_user() -> None:
    assert await union().authenticate(request_with(JANE)) is None


@pytest.mark.parametrize(
    "der", [certificate("somebody"), certificate(ca=make_ca("other", NOW))], ids=["other name", "other CA"]
)
async def test_other_certificates_are_refused(der: bytes) -> None:
    with pytest.raises(StatusError) as caught:
        await union().authenticate(request_with(JANE, der))
    assert caught.value.code == 401


async def test_a_client_with_another_certificate_cannot_use_the_headers() -> None:
    user = await union().authenticate(
        request_with({**JANE, "x-remote-group": "system:masters"}, certificate("eve", CLIENTS))
    )
    assert user is not None
    assert (user.name, user.groups) == ("eve", ("system:authenticated",))


async def test_a_cached_token_does_not_take_precedence_over_the_proxy() -> None:
    known, token = union(), {"authorization": "Bearer good"}
    await known.authenticate(request_with(token))
    user = known.recall(request_with({**JANE, **token}, certificate()))
    assert user is not None
    assert user.name == "jane"


async def test_a_cached_token_does_not_take_precedence_over_a_certificate() -> None:
    known, token = union(), {"authorization": "Bearer good"}
    await known.authenticate(request_with(token))
    user = known.recall(request_with(token, certificate("eve", CLIENTS)))
    assert user is not None
    assert user.name == "eve"


@pytest.mark.parametrize("der", [certificate(), certificate("eve", CLIENTS)], ids=["proxy", "client"])
async def test_the_headers_are_removed_after_authentication(der: bytes) -> None:
    observed: list[dict[str, str]] = []

    async def handler(request: Request) -> Response:
        observed.append(request.headers)
        return Response()

    request = request_with({**JANE, "x-remote-extra-a": "b", "accept": "*/*"}, der)
    await with_authentication(union(), AccessMetrics(), HEADERS)(handler)(request)
    assert observed == [{"accept": "*/*"}]


def test_repeated_identity_headers_are_distinguished_from_commas() -> None:
    assert identity_values(joined("x-remote-group", ["a,b", "c"])) == ("a,b", "c")
    assert identity_values("a,b") == ("a,b",)
    assert joined("accept", ["a", "b"]) == "a, b"


async def test_headers_of_other_names_keep_their_values_apart_too() -> None:
    names = RequestHeaders(usernames=("x-user",), groups=("x-groups",))
    proxy = RequestHeaderAuthenticator(ClientCertificateVerifier([PROXIES.certificate]), names, NOW.timestamp)
    groups = joined("x-groups", ["dev", "CN=ops,O=acme"])
    user = await proxy.authenticate(request_with({"x-user": "jane", "x-groups": groups}, certificate()))
    assert user is not None
    assert user.groups == ("dev", "CN=ops,O=acme", "system:authenticated")


@pytest.mark.parametrize("name", ["authorization", "content-type"])
def test_the_first_of_repeated_single_value_headers_applies(name: str) -> None:
    assert joined(name, ["a", "b"]) == "a"


async def test_an_extra_space_before_a_token_causes_a_warning() -> None:
    request = request_with({"authorization": "Bearer  good"})
    assert await union().authenticate(request) is None
    assert request.warnings == [
        "the provided Authorization header contains extra space before the bearer token, and is ignored"
    ]


async def test_anonymous_requests_can_be_limited_to_some_paths() -> None:
    known = union(anonymous=AnonymousAuthenticator(["/livez"]))
    livez = make_request("GET", "/livez", "", {}, no_body)
    assert await known.authenticate(livez) == ANONYMOUS_USER
    assert await known.authenticate(request_with({})) is None


async def test_a_proxy_whose_ca_has_expired_is_refused_on_an_open_connection() -> None:
    now = NOW.timestamp()
    ca = make_ca("front-proxy-ca", NOW - CA_LIFETIME + datetime.timedelta(days=1))
    verifier = ClientCertificateVerifier([ca.certificate])
    authenticator = RequestHeaderAuthenticator(verifier, HEADERS, lambda: now)
    der = certificate(ca=ca)
    assert authenticator.recall(request_with(JANE, der)) is not None
    now += 2 * 86400
    assert authenticator.recall(request_with(JANE, der)) is None
