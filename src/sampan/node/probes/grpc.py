"""Client for `grpc.health.v1.Health/Check`: one HTTP/2 request, without TLS.

Source: kubernetes pkg/probe/grpc/grpc.go (1.36); grpc doc/PROTOCOL-HTTP2.md, health/v1/health.proto.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from sampan.core.addresses.dial import open_connection
from sampan.core.kubernetes_version import MAJOR, MINOR
from sampan.node.probes.ports import join_host_port
from sampan.node.probes.result import ProbeResult
from sampan.streams.http2.frame_budget import FrameBudget, FrameFlood
from sampan.streams.http2.inbound import Inbound

_PATH: Final = "/grpc.health.v1.Health/Check"
_SERVING: Final = 1
_STATUSES: Final = {0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}
_UNIMPLEMENTED: Final = 12
_BODY_BYTES_MAX: Final = 4096


class _CallFailed(Exception):
    """There was no response, or it could not be decoded."""


@dataclass(slots=True)
class _Reply:
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False


async def probe_grpc(host: str, port: int, service: str, timeout_s: float) -> ProbeResult:
    """Return the health status of a service ("" for the whole server)."""
    address = join_host_port(host, port)
    shown = f"{timeout_s:g}s"
    connected = False
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await open_connection(host, port)
            connected = True
            try:
                reply = await _call(reader, writer, address, service)
            finally:
                writer.transport.abort()
    except TimeoutError:
        if connected:
            return ProbeResult("failure", f"timeout: health rpc did not complete within {shown}")
        text = f'timeout: failed to connect service "{address}" within {shown}: context deadline exceeded'
        return ProbeResult("failure", text)
    except FrameFlood:
        return ProbeResult("failure", "error: health rpc probe failed: too many control frames")
    except (OSError, _CallFailed, h2.exceptions.H2Error) as error:
        if connected:
            return ProbeResult("failure", f"error: health rpc probe failed: {error}")
        return ProbeResult("failure", f'error: failed to connect service at "{address}": {error}')
    return _judged(reply)


def _judged(reply: _Reply) -> ProbeResult:
    code = reply.headers.get("grpc-status", "")
    message = reply.headers.get("grpc-message", "")
    if code == str(_UNIMPLEMENTED):
        text = "error: this server does not implement the grpc health protocol (grpc.health.v1.Health)"
        return ProbeResult("failure", f"{text}: {message}")
    if code not in ("", "0") or reply.headers.get(":status") != "200":
        text = f"rpc error: code = {code or reply.headers.get(':status')} desc = {message}"
        return ProbeResult("failure", f"error: health rpc probe failed: {text}")
    status = _status(bytes(reply.body))
    if status != _SERVING:
        return ProbeResult("failure", f'service unhealthy (responded with "{_STATUSES.get(status, str(status))}")')
    return ProbeResult("success", "service healthy")


def _status(body: bytes) -> int:
    """Decode the field `status` (number 1, an enum) of the response. A message without the field means 0."""
    message = body[5:]
    return message[1] if len(message) >= 2 and message[0] == 0x08 else 0


def _request(service: str) -> bytes:
    """Encode the request as a gRPC frame. Its only field is `service` (number 1)."""
    name = service.encode()
    length = bytes([len(name)]) if len(name) < 0x80 else bytes([len(name) & 0x7F | 0x80, len(name) >> 7])
    message = b"\x0a" + length + name if name else b""
    return b"\x00" + len(message).to_bytes(4, "big") + message


async def _call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str, service: str) -> _Reply:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    connection.initiate_connection()
    stream = connection.get_next_available_stream_id()
    headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", _PATH),
        (":authority", address),
        ("content-type", "application/grpc"),
        ("user-agent", f"kube-probe/{MAJOR}.{MINOR}"),
        ("te", "trailers"),
    ]
    connection.send_headers(stream, headers)
    connection.send_data(stream, _request(service), end_stream=True)
    reply = _Reply()
    inbound = Inbound(FrameBudget(), preface=False)
    while not reply.ended:
        writer.write(connection.data_to_send())
        if not inbound.more:
            data = await reader.read(16_384)
            if not data:
                raise _CallFailed("EOF")
            inbound.feed(data)
        for event in connection.receive_data(inbound.take()):
            _take(event, reply)
    return reply


def _take(event: object, reply: _Reply) -> None:
    match event:
        case h2.events.ResponseReceived() | h2.events.TrailersReceived():
            reply.headers.update({str(name): str(value) for name, value in event.headers or ()})
        case h2.events.DataReceived():
            reply.body += (event.data or b"")[: _BODY_BYTES_MAX - len(reply.body)]
        case h2.events.StreamEnded():
            reply.ended = True
        case h2.events.StreamReset() | h2.events.ConnectionTerminated():
            raise _CallFailed(f"the server ended the call: error code {event.error_code}")
