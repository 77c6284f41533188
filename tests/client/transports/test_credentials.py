"""Tokens that change, and what happens at 401."""

import asyncio
from pathlib import Path

import pytest

from sampan.client.errors import CredentialError
from sampan.client.transport import HttpRequest
from sampan.client.transports.credentials import (
    ClientCertificateFiles,
    Credentials,
    CredentialsTransport,
    StaticCredentials,
    TokenFile,
)
from sampan.http.client.tls import ClientCertificate
from sampan.testing import virtual_time
from tests.client.fakes import FakeResponse, FakeTransport

GET = HttpRequest("GET", "/")


def accepting(token: str) -> FakeTransport:
    """A server that accepts one token."""
    return FakeTransport(
        [lambda requested: FakeResponse(200 if requested.headers.get("authorization") == f"Bearer {token}" else 401)]
    )


def shown(inner: FakeTransport) -> list[str | None]:
    return [requested.headers.get("authorization") for requested in inner.requested]


class Changing:
    """A source that moves on to its next token when the current one is refused."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.renewals = 0

    async def current(self) -> Credentials:
        return Credentials.bearer(self.tokens[0])

    async def renewed(self, refused: Credentials) -> Credentials:
        self.renewals += 1
        if refused == await self.current() and len(self.tokens) > 1:
            self.tokens.pop(0)
        return await self.current()


async def test_a_static_token_is_shown() -> None:
    inner = accepting("a")
    assert (await CredentialsTransport(inner, StaticCredentials(Credentials.bearer("a"))).send(GET)).status == 200


async def test_a_refused_static_token_is_not_shown_again() -> None:
    inner = accepting("b")
    assert (await CredentialsTransport(inner, StaticCredentials(Credentials.bearer("a"))).send(GET)).status == 401
    assert len(inner.requested) == 1


async def test_user_name_and_password_are_shown() -> None:
    inner = FakeTransport([FakeResponse()])
    await CredentialsTransport(inner, StaticCredentials(Credentials.basic("me", "p:ä"))).send(GET)
    assert shown(inner) == ["Basic bWU6cDrDpA=="]


async def test_a_request_may_bring_its_own_authorization() -> None:
    inner = accepting("own")
    request = HttpRequest("GET", "/", {"authorization": "Bearer own"})
    assert (await CredentialsTransport(inner, StaticCredentials(Credentials.bearer("a"))).send(request)).status == 200
    assert shown(inner) == ["Bearer own"]


async def test_after_401_other_credentials_are_tried_once() -> None:
    inner = accepting("b")
    assert (await CredentialsTransport(inner, Changing("a", "b")).send(GET)).status == 200
    assert shown(inner) == ["Bearer a", "Bearer b"]


async def test_a_second_401_is_returned() -> None:
    inner = accepting("c")
    source = Changing("a", "b", "c")
    assert (await CredentialsTransport(inner, source).send(GET)).status == 401
    assert (shown(inner), source.renewals) == (["Bearer a", "Bearer b"], 1)


async def test_a_source_that_fails_after_401_leaves_the_401(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Changing):
        async def renewed(self, refused: Credentials) -> Credentials:
            raise CredentialError("gone")

    assert (await CredentialsTransport(accepting("b"), Failing("a")).send(GET)).status == 401
    assert "gone" in caplog.text


async def test_another_certificate_is_reported_once() -> None:
    first, second = ClientCertificate(b"1", b"k"), ClientCertificate(b"2", b"k")
    reported: list[ClientCertificate | None] = []
    responses = [FakeResponse(), FakeResponse(401), FakeResponse()]

    class Rotating:
        async def current(self) -> Credentials:
            return Credentials(certificate=first)

        async def renewed(self, refused: Credentials) -> Credentials:
            return Credentials(certificate=second)

    transport = CredentialsTransport(FakeTransport([*responses]), Rotating(), use_certificate=reported.append)
    await transport.send(GET)
    await transport.send(GET)
    assert reported == [first, second]


@virtual_time
async def test_a_token_file_is_read_again_when_its_time_is_up(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a\n")
    source = TokenFile(tmp_path / "token")
    assert await source.current() == Credentials.bearer("a")
    (tmp_path / "token").write_text("b")
    await asyncio.sleep(49)
    assert await source.current() == Credentials.bearer("a")
    await asyncio.sleep(1)
    assert await source.current() == Credentials.bearer("b")


@virtual_time
async def test_a_refused_token_is_read_again_at_once(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a")
    inner = accepting("b")
    transport = CredentialsTransport(inner, TokenFile(tmp_path / "token"))
    assert (await transport.send(GET)).status == 401
    (tmp_path / "token").write_text("b")
    assert (await transport.send(GET)).status == 200
    assert shown(inner) == ["Bearer a", "Bearer a", "Bearer b"]


@pytest.mark.parametrize("content", [None, "", "\n"], ids=["missing", "empty", "blank"])
@virtual_time
async def test_a_token_file_without_a_token_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)
    with pytest.raises(CredentialError, match=r"token file .*token: ") as caught:
        await CredentialsTransport(accepting("a"), TokenFile(tmp_path / "token")).send(GET)
    assert not caught.value.sent


@virtual_time
async def test_the_last_token_serves_while_the_file_is_gone(tmp_path: Path) -> None:
    source = TokenFile(tmp_path / "token", first="first")
    assert await source.current() == Credentials.bearer("first")
    (tmp_path / "token").write_text("a")
    assert await source.renewed(Credentials.bearer("first")) == Credentials.bearer("a")
    (tmp_path / "token").unlink()
    await asyncio.sleep(100)
    assert await source.current() == Credentials.bearer("a")


@virtual_time
async def test_certificate_files_are_read_again_when_their_time_is_up(tmp_path: Path) -> None:
    for name in ("c", "k"):
        (tmp_path / name).write_bytes(b"1")
    source = ClientCertificateFiles(tmp_path / "c", tmp_path / "k", StaticCredentials(Credentials.bearer("t")))
    first = Credentials.bearer("t", ClientCertificate(b"1", b"1"))
    assert await source.current() == first
    (tmp_path / "c").write_bytes(b"2")
    await asyncio.sleep(299)
    assert await source.current() == first
    await asyncio.sleep(1)
    assert await source.current() == Credentials.bearer("t", ClientCertificate(b"2", b"1"))


@virtual_time
async def test_the_last_certificate_serves_while_the_files_are_gone(tmp_path: Path) -> None:
    source = ClientCertificateFiles(tmp_path / "c", tmp_path / "k", StaticCredentials(Credentials()))
    with pytest.raises(CredentialError, match="client certificate: "):
        await source.current()
    for name in ("c", "k"):
        (tmp_path / name).write_bytes(b"1")
    shown = await source.current()
    (tmp_path / "c").unlink()
    assert await source.renewed(shown) == shown


def test_credentials_do_not_show() -> None:
    assert "secret" not in repr(Credentials.bearer("secret", ClientCertificate(b"", b"secret")))
