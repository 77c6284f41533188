"""Diagnosis of an etcd that does not respond, for the administrator. It connects to each endpoint without gRPC.

It connects as a client would, with and without TLS, and examines the first bytes of the response. It makes no etcd
calls.
"""

import asyncio
import socket
import ssl
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from cryptography import x509
from grpc.aio import AioRpcError

from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.tls.trust import client_context, unverified_context
from sampan.storage.etcd.connection.certificate_faults import client_certificate_fault, server_certificate_fault
from sampan.storage.etcd.connection.faults import FailureKind, fault_of
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.store import StoreMisconfigured, StoreUnreachable

T = TypeVar("T")

_SOON_S: Final = 1.0
"""Time to wait for a response before the endpoints are diagnosed."""
_TIMEOUT_S: Final = 2.0
_REFUSED_WITHIN_S: Final = 0.5
_MEMBERS: Final = ", as etcd does without a quorum of its members"
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""Preface of an HTTP/2 client, with empty settings."""
_ADVICE: Final = (  # for requests that etcd's authentication denied
    ("user name is empty", "etcd takes the user from the common name of the certificate in --etcd-certfile"),
    (
        "permission denied",
        "the user is the common name of the certificate in --etcd-certfile and needs the role root; a read-only server "
        "needs permission to read --etcd-prefix followed by / and by .sampan/",
    ),
)
_SETTINGS_TYPE: Final = 4
_HEAD: Final = 9


class Diagnosis(NamedTuple):
    """Fault of one endpoint. `transient`: it may disappear without a change, as when etcd has not started yet."""

    server: str
    text: str
    transient: bool

    def __str__(self) -> str:
        return f"{self.server} {self.text}"


class _EndpointFault(Exception):
    """Fault of the endpoint under test."""

    def __init__(self, text: str, *, transient: bool = False) -> None:
        super().__init__(text)
        self.transient = transient


async def diagnosed(request: Coroutine[Any, Any, T], settings: EtcdSettings) -> T:
    """Await the first request to etcd. If it fails, diagnose the endpoints and raise an error that explains why.

    Raises `StoreMisconfigured`, without waiting for the deadline, if no endpoint can work with these settings, or if
    etcd denies access. Raises `StoreUnreachable` if a retry may help.
    """
    try:
        async with TaskScope() as tasks:
            pending = tasks.begin(request)
            await asyncio.wait({pending}, timeout=_SOON_S)
            if not pending.done():
                _refuse_permanent(await findings(settings), settings)
            return await pending
    except StoreUnreachable as error:
        found = await findings(settings)
        _refuse_permanent(found, settings)
        if isinstance(error.__cause__, AioRpcError) and fault_of(error.__cause__) is FailureKind.REFUSED:
            advice = next((f": {advice}" for text, advice in _ADVICE if text in str(error)), "")
            raise StoreMisconfigured(f"{error} ({', '.join(settings.servers)}){advice}") from error
        if not found:
            raise
        alone = len(found) == len(settings.servers)
        raise StoreUnreachable(_summary(found) if alone else f"{error}; {_summary(found)}") from error


def _refuse_permanent(found: Sequence[Diagnosis], settings: EtcdSettings) -> None:
    if len(found) == len(settings.servers) and not any(finding.transient for finding in found):
        raise StoreMisconfigured(_summary(found))


def _summary(found: Sequence[Diagnosis]) -> str:
    return f"etcd cannot be used: {'; '.join(map(str, found))}"


async def findings(settings: EtcdSettings) -> list[Diagnosis]:
    """Return the faults of the endpoints. Endpoints that work are left out."""
    found = await asyncio.gather(*(asyncio.to_thread(_check, server, settings) for server in settings.servers))
    return [finding for finding in found if finding is not None]


def _check(server: str, settings: EtcdSettings) -> Diagnosis | None:
    parts = urlsplit(server)
    host, port = parts.hostname or "", parts.port or 0
    try:
        if parts.scheme == "https":
            _check_with_tls(host, port, settings)
        else:
            _check_without_tls(host, port)
    except _EndpointFault as fault:
        return Diagnosis(server, str(fault), fault.transient)
    except TimeoutError:
        return Diagnosis(
            server, f"accepts connections but does not answer within {_TIMEOUT_S:g} s{_MEMBERS}", transient=True
        )
    except OSError as error:
        return Diagnosis(server, f"closed the connection: {error.strerror or error}", transient=True)
    return None


def _check_without_tls(host: str, port: int) -> None:
    try:
        with closing(_connected(host, port)) as sock:
            response = _http2_reply(sock)
    except ConnectionResetError:
        response = b""
    if _is_http2(response):
        return
    if _accepts_tls(host, port):
        raise _EndpointFault("uses TLS: its URL must begin with https://")
    raise _EndpointFault(_foreign_protocol(response))


def _check_with_tls(host: str, port: int, settings: EtcdSettings) -> None:
    authorities = None if settings.ca_file is None else settings.ca_file.read_text("ascii", "replace")
    context = _with_client_certificate(client_context(authorities, protocols=["h2"]), settings)
    try:
        with _secured(host, port, context) as secured:
            response = _http2_reply(secured, _unsolicited(secured))
    except ssl.SSLCertVerificationError as error:
        raise _EndpointFault(
            server_certificate_fault(error, _peer_certificate(host, port, settings), host, settings.ca_file)
        ) from error
    except (ConnectionResetError, ssl.SSLEOFError) as error:
        raise _EndpointFault(_tls_fault(host, port, "it closes the connection")) from error
    except ssl.SSLError as error:
        if "ALERT" in (error.reason or ""):
            raise _EndpointFault(client_certificate_fault(error, settings.cert_file)) from error
        raise _EndpointFault(_tls_fault(host, port, error.reason or str(error))) from error
    if not _is_http2(response):
        raise _EndpointFault(_foreign_protocol(response))


def _connected(host: str, port: int) -> socket.socket:
    try:
        sock = socket.create_connection((host, port), timeout=_TIMEOUT_S)
    except socket.gaierror as error:
        raise _EndpointFault(f"has a name that does not resolve: {error.strerror}", transient=True) from error
    except TimeoutError as error:
        raise _EndpointFault(f"does not accept a connection within {_TIMEOUT_S:g} s", transient=True) from error
    except OSError as error:
        text = "refuses connections: no process listens there" if isinstance(error, ConnectionRefusedError) else ""
        raise _EndpointFault(text or f"cannot be reached: {error.strerror}", transient=True) from error
    sock.settimeout(_TIMEOUT_S)
    return sock


@contextmanager
def _secured(host: str, port: int, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
    with closing(_connected(host, port)) as sock, closing(context.wrap_socket(sock, server_hostname=host)) as secured:
        yield secured


def _unsolicited(secured: ssl.SSLSocket) -> bytes:
    """Return what a server sends before any request. Raises `ssl.SSLError` if it refuses our certificate.

    In TLS 1.3 that may happen after the handshake. The alert with the reason would be lost if we had already sent data
    that the server has not read.
    """
    secured.settimeout(_REFUSED_WITHIN_S)
    try:
        return secured.recv(256)
    except TimeoutError:
        return b""
    finally:
        secured.settimeout(_TIMEOUT_S)


def _http2_reply(sock: socket.socket, received: bytes = b"") -> bytes:
    """Send an HTTP/2 preface and return the first bytes of the response. `received`: bytes received before."""
    sock.sendall(_PREFACE)
    response = received
    while len(response) < _HEAD and (more := sock.recv(256)):
        response += more
    return response


def _is_http2(response: bytes) -> bool:
    return len(response) >= _HEAD and response[3] == _SETTINGS_TYPE and response[:2] == b"\0\0"


def _foreign_protocol(response: bytes) -> str:
    if response:
        fault = "it answers " + repr(response.split(b"\n")[0][:40].rstrip())[1:]
    else:
        fault = "it closes the connection without an answer"
    return f"is not etcd: {fault}; check that the port is the client port"


def _accepts_tls(host: str, port: int) -> bool:
    try:
        with _secured(host, port, unverified_context()):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, _EndpointFault):
        return False


def _peer_certificate(host: str, port: int, settings: EtcdSettings) -> x509.Certificate | None:
    """Return the server's certificate without verifying it, or None if the server refuses ours."""
    context = _with_client_certificate(unverified_context(), settings)
    with suppress(OSError, _EndpointFault, ValueError), _secured(host, port, context) as secured:
        return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
    return None


def _with_client_certificate(context: ssl.SSLContext, settings: EtcdSettings) -> ssl.SSLContext:
    if settings.cert_file is not None and settings.key_file is not None:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context


def _tls_fault(host: str, port: int, reason: str) -> str:
    """Explain why the TLS handshake failed; the server may not use TLS at all."""
    with suppress(OSError, _EndpointFault), closing(_connected(host, port)) as sock:
        response = _http2_reply(sock)
        if _is_http2(response):
            return "does not use TLS: its URL must begin with http://"
        if response and not response.startswith((b"\x15", b"\x16")):
            return _foreign_protocol(response)
    return f"fails the TLS handshake: {reason.replace('_', ' ').lower()}"
