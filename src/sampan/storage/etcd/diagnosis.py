"""Why etcd does not answer, for the person who is to mend it: each endpoint is looked at, without gRPC's own words.

A connection is made as a client makes it, with and without TLS, and what comes back is judged; etcd is asked nothing.
"""

import asyncio
import socket
import ssl
from collections.abc import Coroutine, Sequence
from contextlib import closing, suppress
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from cryptography import x509
from grpc.aio import AioRpcError

from sampan.core.tls_trust import client_context, unverified_context
from sampan.storage.etcd.faults import Fault, fault_of
from sampan.storage.etcd.refusals import of_the_client, of_the_server
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.store import StoreMisconfigured, StoreUnreachable

T = TypeVar("T")

_SOON_S: Final = 1.0
"""How long is waited for an answer before the endpoints are looked at."""
_PATIENCE_S: Final = 2.0
_REFUSED_WITHIN_S: Final = 0.5
_MEMBERS: Final = ": an etcd does so while it finds too few of its members"
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""What a client of HTTP/2 says first, with empty settings."""
_ADVICE: Final = (
    ("user name is empty", "it asks who we are, and that is the common name of the certificate in --etcd-certfile"),
    (
        "permission denied",
        "the user is the common name of the certificate in --etcd-certfile, and needs the role root; who only reads, "
        "rights to --etcd-prefix with / and with .sampan/ behind it",
    ),
)
_SETTINGS_TYPE: Final = 4
_HEAD: Final = 9


class Finding(NamedTuple):
    """What is wrong with one endpoint. `passes`: whether it may pass by itself, as when it is not started yet."""

    server: str
    text: str
    passes: bool

    def __str__(self) -> str:
        return f"{self.server} {self.text}"


class _Wrong(Exception):
    """What was found."""

    def __init__(self, text: str, *, passes: bool = False) -> None:
        super().__init__(text)
        self.passes = passes


async def explained(question: Coroutine[Any, Any, T], settings: EtcdSettings) -> T:
    """Await the first question to etcd, and say why nobody answers.

    Raises `StoreMisconfigured`, soon, when no endpoint can be right as it is said to be, or when etcd does not let us;
    `StoreUnreachable` when time may help.
    """
    asking = asyncio.ensure_future(question)
    try:
        await asyncio.wait({asking}, timeout=_SOON_S)
        if not asking.done():
            _refuse_hopeless(await findings(settings), settings)
        return await asking
    except StoreUnreachable as error:
        found = await findings(settings)
        _refuse_hopeless(found, settings)
        if isinstance(error.__cause__, AioRpcError) and fault_of(error.__cause__) is Fault.REFUSED:
            raise StoreMisconfigured(f"{error} ({', '.join(settings.servers)}){_advice(str(error))}") from error
        if not found:
            raise
        alone = len(found) == len(settings.servers)
        raise StoreUnreachable(_said(found) if alone else f"{error}; {_said(found)}") from error
    finally:
        asking.cancel()


def _advice(refusal: str) -> str:
    """What to change when etcd, which has authentication on, does not let us."""
    return next((f": {advice}" for text, advice in _ADVICE if text in refusal), "")


def _refuse_hopeless(found: Sequence[Finding], settings: EtcdSettings) -> None:
    if len(found) == len(settings.servers) and not any(finding.passes for finding in found):
        raise StoreMisconfigured(_said(found))


def _said(found: Sequence[Finding]) -> str:
    return f"etcd cannot be used: {'; '.join(map(str, found))}"


async def findings(settings: EtcdSettings) -> list[Finding]:
    """What is wrong with endpoints; those that answer as they are to are left out."""
    found = await asyncio.gather(*(asyncio.to_thread(_look, server, settings) for server in settings.servers))
    return [finding for finding in found if finding is not None]


def _look(server: str, settings: EtcdSettings) -> Finding | None:
    parts = urlsplit(server)
    host, port = parts.hostname or "", parts.port or 0
    try:
        if parts.scheme == "https":
            _look_behind_tls(host, port, settings)
        else:
            _look_without_tls(host, port)
    except _Wrong as wrong:
        return Finding(server, str(wrong), wrong.passes)
    except TimeoutError:
        return Finding(server, f"takes connections and says nothing within {_PATIENCE_S:g} s{_MEMBERS}", passes=True)
    except OSError as error:
        return Finding(server, f"breaks off: {error.strerror or error}", passes=True)
    return None


def _look_without_tls(host: str, port: int) -> None:
    try:
        with closing(_connected(host, port)) as sock:
            answer = _greeted(sock)
    except ConnectionResetError:
        answer = b""
    if _is_http2(answer):
        return
    if _speaks_tls(host, port):
        raise _Wrong("speaks TLS: its URL begins with https://")
    raise _Wrong(_foreign(answer))


def _look_behind_tls(host: str, port: int, settings: EtcdSettings) -> None:
    context = _context(settings)
    sock = _connected(host, port)
    try:
        with closing(context.wrap_socket(sock, server_hostname=host)) as secured:
            answer = _greeted(secured, _heard_before(secured))
    except ssl.SSLCertVerificationError as error:
        raise _Wrong(of_the_server(error, _shown(host, port, settings), host, settings.ca_file)) from error
    except ssl.SSLError as error:
        if "ALERT" in (error.reason or ""):
            raise _Wrong(of_the_client(error, settings.cert_file)) from error
        raise _Wrong(_without_tls(host, port, error.reason or str(error))) from error
    except (ConnectionResetError, ssl.SSLEOFError) as error:
        raise _Wrong(_without_tls(host, port, "it ends the connection")) from error
    finally:
        sock.close()
    if not _is_http2(answer):
        raise _Wrong(_foreign(answer))


def _connected(host: str, port: int) -> socket.socket:
    try:
        sock = socket.create_connection((host, port), timeout=_PATIENCE_S)
    except socket.gaierror as error:
        raise _Wrong(f"has a name that does not resolve: {error.strerror}", passes=True) from error
    except TimeoutError as error:
        raise _Wrong(f"does not take a connection within {_PATIENCE_S:g} s", passes=True) from error
    except OSError as error:
        text = "refuses connections: nobody listens there" if isinstance(error, ConnectionRefusedError) else ""
        raise _Wrong(text or f"cannot be reached: {error.strerror}", passes=True) from error
    sock.settimeout(_PATIENCE_S)
    return sock


def _context(settings: EtcdSettings) -> ssl.SSLContext:
    authorities = None if settings.ca_file is None else settings.ca_file.read_text("ascii", "replace")
    return _with_own(client_context(authorities, protocols=["h2"]), settings)


def _heard_before(secured: ssl.SSLSocket) -> bytes:
    """What a server says by itself. Raises `ssl.SSLError` when it refuses our certificate, which it may do after the
    handshake (TLS 1.3); its reason would be lost if something that it has not read were under way to it then.
    """
    secured.settimeout(_REFUSED_WITHIN_S)
    try:
        return secured.recv(256)
    except TimeoutError:
        return b""
    finally:
        secured.settimeout(_PATIENCE_S)


def _greeted(sock: socket.socket, heard: bytes = b"") -> bytes:
    """The beginning of what comes back to a client of HTTP/2. `heard`: what came before."""
    sock.sendall(_PREFACE)
    answer = heard
    while len(answer) < _HEAD and (more := sock.recv(256)):
        answer += more
    return answer


def _is_http2(answer: bytes) -> bool:
    return len(answer) >= _HEAD and answer[3] == _SETTINGS_TYPE and answer[:2] == b"\0\0"


def _foreign(answer: bytes) -> str:
    said = repr(answer.split(b"\n")[0][:40].rstrip())[1:] if answer else "it ends the connection without a word"
    return f"is no etcd: {'it says ' if answer else ''}{said}; is the port that for clients?"


def _speaks_tls(host: str, port: int) -> bool:
    try:
        with (
            closing(_connected(host, port)) as sock,
            closing(unverified_context().wrap_socket(sock, server_hostname=host)),
        ):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, _Wrong):
        return False


def _shown(host: str, port: int, settings: EtcdSettings) -> x509.Certificate | None:
    """The certificate that a server shows, whoever signed it; None: it does not take ours."""
    context = _with_own(unverified_context(), settings)
    with (
        suppress(OSError, _Wrong, ValueError),
        closing(_connected(host, port)) as sock,
        closing(context.wrap_socket(sock, server_hostname=host)) as secured,
    ):
        return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
    return None


def _with_own(context: ssl.SSLContext, settings: EtcdSettings) -> ssl.SSLContext:
    if settings.cert_file is not None and settings.key_file is not None:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context


def _without_tls(host: str, port: int, reason: str) -> str:
    """Why the handshake failed: it may be that the server speaks no TLS."""
    with suppress(OSError, _Wrong), closing(_connected(host, port)) as sock:
        answer = _greeted(sock)
        if _is_http2(answer):
            return "speaks without TLS: its URL begins with http://"
        if answer and not answer.startswith((b"\x15", b"\x16")):
            return _foreign(answer)
    return f"does not agree on TLS: {reason.replace('_', ' ').lower()}"
