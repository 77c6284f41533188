"""Headers that carry the user of a request to a backend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.aggregation.backend import BadIdentity, identity_lines
from sampan.server.authentication.request_header import STANDARD_HEADERS, RequestHeaderAuthenticator
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.proxy.headers import head_of
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, UserInfo
from sampan.wire.http1 import joined
from tests.server.requests import make_request

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1).filter(
    lambda text: text == text.strip()
)


def test_keys_that_are_no_header_names_are_escaped() -> None:
    lines = identity_lines(UserInfo("u", extra={"example.com/a%": ("1", "2")}))
    assert lines[1:] == [("X-Remote-Extra-example.com%2Fa%25", "1"), ("X-Remote-Extra-example.com%2Fa%25", "2")]


@pytest.mark.parametrize(
    "user",
    [
        UserInfo("a\r\nX-Remote-Group: system:masters"),
        UserInfo("a", groups=("b\0",)),
        UserInfo("a", extra={"": ("\n",)}),
    ],
    ids=["name", "group", "extra"],
)
def test_a_user_that_does_not_fit_into_headers_is_not_sent_in_part(user: UserInfo) -> None:
    with pytest.raises(BadIdentity):
        identity_lines(user)


@given(
    TEXT,
    st.lists(TEXT, max_size=3),
    st.dictionaries(st.text("abc/%.:é", min_size=1), st.lists(TEXT, min_size=1, max_size=2), max_size=3),
)
def test_a_user_sent_in_headers_is_read_back(name: str, groups: list[str], extra: dict[str, list[str]]) -> None:
    user = UserInfo(name, "u", tuple(groups), {key: tuple(values) for key, values in extra.items()})
    head = head_of("GET", ProxyTarget("h", 1, "/", lines=identity_lines(user)), {})
    lines: dict[str, list[str]] = {}
    for line in head.decode("latin-1").split("\r\n")[1:-2]:
        key, _, value = line.partition(": ")
        lines.setdefault(key.lower(), []).append(value)
    headers = {name: joined(name, values) for name, values in lines.items()}
    assert understood(headers) == user


def understood(headers: dict[str, str]) -> UserInfo | None:
    """Return the user that a server behind a trusted proxy reads from the headers."""

    class Trusting(RequestHeaderAuthenticator):
        def _check_proxy(self, der: bytes, request: Request) -> None:
            pass

    async def no_body(limit: int) -> bytes:
        return b""

    request = make_request("GET", "/", "", headers, no_body, client_certificate=b"x")
    found = Trusting(ClientCertificateVerifier([]), STANDARD_HEADERS).recall(request)
    if found is None:
        return None
    groups = tuple(group for group in found.groups if group != "system:authenticated")
    return UserInfo(found.name, found.uid, groups, found.extra)
