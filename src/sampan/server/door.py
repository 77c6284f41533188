"""`shut`: new clients are ignored by a listening socket, while those whom the system has let in still come through.

A client is in when the system has answered its SYN: it may have sent its request before the server knows of it. When
the socket is closed the system resets all such connections; so their SYNs have to stop first. Who is ignored asks the
system again a second later, and is refused or finds the next server.
"""

import ctypes
import select
import socket
import struct
import sys
from contextlib import suppress
from typing import Final

_ATTACH_FILTER: Final = 26
"""SO_ATTACH_FILTER of Linux. Source: include/uapi/asm-generic/socket.h."""
_FLAGS_AT: Final = 13
"""Where a TCP header has its flags."""
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
"""For the kernel's packet filter: a SYN without ACK is dropped."""


def shut(sock: socket.socket) -> None:
    """Let nobody else in. Where the system has no such filter, nothing happens."""
    if not sys.platform.startswith("linux"):
        return
    instructions = ctypes.create_string_buffer(_PROGRAM, len(_PROGRAM))
    program = struct.pack("HP", len(_PROGRAM) // 8, ctypes.addressof(instructions))
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)


def somebody_waits(sock: socket.socket) -> bool:
    """Whether the system has let somebody in whom we have not accepted yet."""
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return bool(waiting.poll(0))
