"""Packet filter for a listening socket that shuts down: refuses new connections, keeps those that are established.

The kernel completes a handshake before the server accepts the connection, and the client may already send its request.
Closing the socket would reset these connections, so new SYNs must stop first. A client whose SYN is dropped retries
after a second. By then the socket is closed: the client gets an error, or connects to another server on the same
address.
"""

import ctypes
import select
import socket
import struct
import sys
from contextlib import suppress
from typing import Final

_ATTACH_FILTER: Final = 26
"""Linux' SO_ATTACH_FILTER. Source: include/uapi/asm-generic/socket.h."""
_FLAGS_AT: Final = 13
"""Offset of the flags in a TCP header."""
_SYN, _ACK = 0x02, 0x10
_LOAD_BYTE, _AND, _IF_EQUAL, _RETURN = 0x30, 0x54, 0x15, 0x06
_DROP, _KEEP = 0, 0xFFFFFFFF
_PROGRAM: Final = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (_LOAD_BYTE, 0, 0, _FLAGS_AT),
        (_AND, 0, 0, _SYN | _ACK),
        (_IF_EQUAL, 0, 1, _SYN),
        (_RETURN, 0, 0, _DROP),
        (_RETURN, 0, 0, _KEEP),
    )
)
"""Classic BPF program that drops each SYN without ACK."""


def drop_new_connections(sock: socket.socket) -> None:
    """Drop the SYNs of new connections. Does nothing on systems without packet filters for sockets."""
    if not sys.platform.startswith("linux"):
        return
    instructions = ctypes.create_string_buffer(_PROGRAM, len(_PROGRAM))
    program = struct.pack("HP", len(_PROGRAM) // 8, ctypes.addressof(instructions))
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)


def has_pending_connection(sock: socket.socket) -> bool:
    """Return True if the kernel has an established connection that was not accepted yet."""
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return bool(waiting.poll(0))
