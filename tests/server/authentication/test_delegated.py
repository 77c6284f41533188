"""Authentication of clients by an extension API server."""

import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from sampan.core.errors import StatusError
from sampan.server.authentication.authenticator import TokenUser
from sampan.server.authentication.delegated import DelegatedAuthenticator
from sampan.server.pki.certificates import KeyPair, make_ca, make_client
from sampan.server.request import Request, UserInfo
from sampan.wire.http1 import Repeated
from tests.server.requests import make_request
from tests.server.tls_files import NOW


class Tokens:
    """Token authenticator with one valid token."""

    cacheable = False

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        return TokenUser(UserInfo("by-token")) if token == "good" else None


PROXIES, CLIENTS, OTHERS = make_ca("proxies", NOW), make_ca("clients", NOW), make_ca("others", NOW)


def data(proxies: KeyPair = PROXIES, names: tuple[str, ...] = ("front",)) -> dict[str, str]:
    """Return the data of the ConfigMap."""
    return {
        "client-ca-file": CLIENTS.certificate_pem().decode(),
        "requestheader-client-ca-file": proxies.certificate_pem().decode(),
        "requestheader-allowed-names": json.dumps(names),
        "requestheader-username-headers": '["X-Remote-User"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    }


def request(signed_by: KeyPair | None = None, name: str = "front", **headers: str) -> Request:
    """A request with a client certificate."""

    async def no_body(limit: int) -> bytes:
        return b""

    der = make_client(signed_by, name, ("devs",), NOW).certificate.public_bytes(Encoding.DER) if signed_by else None
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return make_request("GET", "/", "", named, no_body, client_certificate=der)


async def test_the_front_proxy_names_the_user() -> None:
    known = DelegatedAuthenticator(data(), Tokens())
    user = await known.authenticate(request(PROXIES, x_remote_user="jane", x_remote_group=Repeated.of(["a", "b"])))
    assert user == UserInfo("jane", groups=("a", "b", "system:authenticated"))


async def test_a_client_certificate_and_a_token_are_accepted() -> None:
    known = DelegatedAuthenticator(data(), Tokens())
    user = await known.authenticate(request(CLIENTS, "joe"))
    assert user is not None
    assert (user.name, user.groups) == ("joe", ("devs", "system:authenticated"))
    user = await known.authenticate(request(authorization="Bearer good"))
    assert user is not None
    assert user.name == "by-token"


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (request(CLIENTS, x_remote_user="root"), "front"),
        (request(OTHERS, x_remote_user="root"), "401"),
        (request(PROXIES, "somebody", x_remote_user="root"), "401"),
        (request(authorization="Bearer bad"), "401"),
    ],
    ids=["another CA", "an unknown CA", "a name that is not allowed", "an unknown token"],
)
async def test_headers_of_other_clients_are_ignored(wrong: Request, name: str) -> None:
    known = DelegatedAuthenticator(data(), Tokens())
    found = ""
    try:
        user = await known.authenticate(wrong)
        found = user.name if user is not None else ""
    except StatusError as error:
        found = str(error.code)
    assert found == name


async def test_without_a_certificate_headers_are_ignored() -> None:
    user = await DelegatedAuthenticator(data(), Tokens()).authenticate(request(x_remote_user="root"))
    assert user is not None
    assert user.name == "system:anonymous"


async def test_new_data_replace_the_old_ones_unless_they_are_invalid() -> None:
    known = DelegatedAuthenticator(data(), Tokens())
    known.replace(data(OTHERS))
    user = await known.authenticate(request(OTHERS, x_remote_user="jane"))
    assert user is not None
    with pytest.raises(StatusError):
        await known.authenticate(request(PROXIES, x_remote_user="jane"))
    for broken in ({"requestheader-allowed-names": "{"}, {"requestheader-client-ca-file": "nonsense"}):
        with pytest.raises(ValueError):
            known.replace({**data(), **broken})
    assert await known.authenticate(request(OTHERS, x_remote_user="jane")) == user


async def test_without_data_only_tokens_are_accepted() -> None:
    known = DelegatedAuthenticator({}, Tokens())
    user = await known.authenticate(request(PROXIES, x_remote_user="root"))
    assert user is not None
    assert user.name == "system:anonymous"
