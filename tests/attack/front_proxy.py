"""Class e: users that the headers of a front proxy name, sent by clients that are no proxy, or in odd spellings."""

import asyncio
import datetime
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.core.clock import utc_now
from sampan.server.pki.certificates import KeyPair, make_ca, make_client
from tests.attack.report import Count
from tests.attack.server import LOOPS, Attacked
from tests.attack.wire import Address, context

Lines = tuple[str, ...]
REVIEW: Final = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
JANE: Final = ("X-Remote-User: jane",)
MASTERS: Final = (*JANE, "X-Remote-Group: system:masters")
REFUSED: Final = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Header lines from a client with a certificate, and the name of the user that the server must see.

    `REFUSED`: the server must not authenticate the client. `groups` and `extra` are checked if they are not None.
    """

    name: str
    certificate: str
    lines: Lines
    user: str
    groups: frozenset[str] | None = None
    extra: dict[str, list[str]] | None = None


TOKEN: Final = ("Authorization: Bearer token-0",)
WITH_MASTERS: Final = frozenset({"system:masters", "system:authenticated"})
CERTIFICATES: Final = {"": REFUSED, "client": "alice", "wrong name": REFUSED, "wrong ca": REFUSED, "expired": REFUSED}
"""Certificates that are no front proxy's, and the users they authenticate."""
SPELLINGS: Final = (
    "X-Remote-User: jane",
    "x-remote-user: jane",
    "X-REMOTE-USER: jane",
    "X-Remote-User:jane",
    "X-Remote-User: \tjane \t",
)
SMUGGLED: Final = (
    "X_Remote_User: jane",
    "X-Remote_User: jane",
    "X-Remote-User-: jane",
    "X-Forwarded-User: jane",
    "Forwarded: for=jane",
    "Connection: X-Remote-User",
    "X-Remote-User:",
    "X-Remote-User: \t ",
)
MALFORMED: Final = (
    "X-Remote-User : jane",
    " X-Remote-User: jane",
    "X-Remote-User\t: jane",
    "X-Remote-User: jane\r\n folded",
    "X-Remote-User: ja\0ne",
    "X-Remote-User: a\rX-Remote-Group: system:masters",
    "X-Remote\u00adUser: jane",
    ": jane",
    "X-Remote-User",
)
EXTRA: Final = {
    "X-Remote-Extra-Scopes: a": {"scopes": ["a"]},
    "X-Remote-Extra-Acme.com%2Fa: b": {"acme.com/a": ["b"]},
    "X-Remote-Extra-A%20b: c": {"a b": ["c"]},
    "X-Remote-Extra-%25: c": {"%": ["c"]},
    "X-Remote-Extra-A%2: c": {"a%2": ["c"]},
    "X-Remote-Extra-A%zz%41: c": {"a%zz%41": ["c"]},
    "X-Remote-Extra-A: b\r\nX-Remote-Extra-%61: c": {"a": ["b", "c"]},
    "X-Remote-Extra-A: b,c": {"a": ["b,c"]},
}


def _cases() -> Iterator[Case]:
    for certificate, user in CERTIFICATES.items():
        for lines in (JANE, MASTERS, ("X-Remote-Group: system:masters",), *((each,) for each in SPELLINGS)):
            yield Case("not a proxy", certificate, lines, user)
        for impersonated in ("Impersonate-User: admin", "Impersonate-Group: system:masters"):
            yield Case("not a proxy, impersonates", certificate, (*MASTERS, impersonated), REFUSED)
        yield Case("not a proxy, has a token", certificate, (*MASTERS, *TOKEN), user or "u0")
    for line in SPELLINGS:
        yield Case("spelling", "proxy", (line,), "jane")
    for line in SMUGGLED:
        yield Case("smuggled", "proxy", (line,), REFUSED)
        yield Case("smuggled, has a token", "proxy", (line, *TOKEN), "u0")
    for line in MALFORMED:
        yield Case("malformed", "proxy", (line,), REFUSED)
        yield Case("malformed, has a token", "proxy", (*TOKEN, line), REFUSED)
    yield Case("user twice", "proxy", (*JANE, "x-remote-user: admin"), "jane")
    yield Case("empty user first", "proxy", ("X-Remote-User:", *JANE), REFUSED)
    yield Case("token of another", "proxy", (*TOKEN, *JANE), "jane")
    yield Case("groups", "proxy", MASTERS, "jane", WITH_MASTERS)
    commas = (*JANE, "X-Remote-Group: a,system:masters")
    yield Case("commas", "proxy", commas, "jane", frozenset({"a,system:masters", "system:authenticated"}))
    yield Case("impersonates", "proxy", (*JANE, "Impersonate-User: admin"), REFUSED)
    yield Case("impersonates after", "proxy", (*MASTERS, "Impersonate-User: bob"), "bob")
    removed = (*MASTERS, "Impersonate-User: bob", "X-Remote-Extra-A: b")
    yield Case("nothing stays", "proxy", removed, "bob", frozenset({"system:authenticated"}), {})
    for line, extra in EXTRA.items():
        yield Case("extra", "proxy", (*JANE, line), "jane", None, extra)


@dataclass(frozen=True, slots=True)
class Proxies:
    """Certificate authorities and certificates for the server and its clients, as files."""

    directory: Path

    def make(self) -> None:
        """Make all of them."""
        now = utc_now()
        proxies, clients, strange = (make_ca(name, now) for name in ("front-proxy-ca", "ca", "front-proxy-ca"))
        for name, pair in {
            "proxies": proxies,
            "clients": clients,
            "proxy": make_client(proxies, "front-proxy", (), now),
            "wrong name": make_client(proxies, "front-proxy2", (), now),
            "wrong ca": make_client(strange, "front-proxy", (), now),
            "expired": make_client(proxies, "front-proxy", (), now - datetime.timedelta(days=800)),
            "client": make_client(clients, "alice", (), now),
        }.items():
            self._write(name, pair)

    def _write(self, name: str, pair: KeyPair) -> None:
        (self.directory / name).write_bytes(pair.certificate_pem() + pair.key_pem())

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of the server."""
        path = self.directory
        return (
            *LOOPS,
            f"--requestheader-client-ca-file={path / 'proxies'}",
            "--requestheader-allowed-names=front-proxy",
            f"--client-ca-file={path / 'clients'}",
        )

    def context(self, certificate: str) -> ssl.SSLContext:
        """Return the TLS context of a client."""
        found = context()
        if certificate:
            found.load_cert_chain(self.directory / certificate)
        return found


async def _review(address: Address, tls: ssl.SSLContext, lines: Lines) -> dict[str, Any] | int:
    """Send a SelfSubjectReview. Return the user that the server sees, or the status."""
    head = (
        "POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1",
        "Host: h",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(REVIEW)}",
        *lines,
    )
    reader, writer = await asyncio.open_connection(address.host, address.port, ssl=tls)
    try:
        writer.write("\r\n".join((*head, "", "")).encode("latin-1") + REVIEW)
        async with asyncio.timeout(30):
            response = await reader.read()
    finally:
        writer.transport.abort()
    status, body = int(response.split(b" ")[1]), response.partition(b"\r\n\r\n")[2]
    found: dict[str, Any] | int = json.loads(body)["status"]["userInfo"] if status == 201 else status
    return found


def _wrong(case: Case, found: dict[str, Any] | int) -> str:
    """Return what is wrong, or an empty string."""
    if isinstance(found, int):
        return "" if case.user == REFUSED and found in (400, 401, 403) else f"answered {found}"
    groups, extra = frozenset(found.get("groups", ())), found.get("extra", {})
    is_right = found["username"] == case.user and case.groups in (None, groups) and case.extra in (None, extra)
    return "" if is_right else f"authenticated as {found}"


async def pretend(target: Attacked, proxies: Proxies) -> Count:
    """Send all cases to a server that runs with the options of `proxies`."""
    count = Count("e: front proxy")
    contexts = {name: proxies.context(name) for name in (*CERTIFICATES, "proxy")}
    for case in _cases():
        found = await _review(target.address, contexts[case.certificate], case.lines)
        count.note(f"{case.name} ({case.certificate}): {case.lines}", case.user == REFUSED, _wrong(case, found))
    return count
