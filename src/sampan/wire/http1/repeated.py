"""`RepeatedGet`: a client's next GET usually differs only in its target, so its fields need not be parsed again."""

from sampan.wire.http1.events import RequestHead

KNOWN_BLOCK_BYTES_MAX = 16 << 10
_VISIBLE = bytes(range(0x21, 0x7F))
_FRAMING = frozenset({"connection", "content-length", "expect", "transfer-encoding", "upgrade"})


class RepeatedGet:
    """Fields of a connection's last plain GET, as bytes and decoded."""

    __slots__ = ("_block", "_headers")

    def __init__(self) -> None:
        self._block = b""
        self._headers: dict[str, str] = {}

    def remember(self, data: bytes, head: RequestHead) -> None:
        """Keep the fields of a GET that the parser has read from `data`, if `data` contains nothing else."""
        line, _, block = data.partition(b"\r\n")
        if (
            line.endswith(b" HTTP/1.1")
            and head.keep_alive
            and len(block) <= KNOWN_BLOCK_BYTES_MAX
            and block.find(b"\r\n\r\n") == len(block) - 4
            and _FRAMING.isdisjoint(head.headers)
        ):
            self._block, self._headers = block, head.headers.copy()

    def read(self, data: bytes) -> RequestHead | None:
        """Return the head of a GET with exactly these fields, read without the parser; None for all other data."""
        if not data.startswith(b"GET "):
            return None
        line, _, block = data.partition(b"\r\n")
        if not block or block != self._block or not line.endswith(b" HTTP/1.1"):
            return None
        target = line[4:-9]
        if target.translate(None, _VISIBLE):
            return None
        return RequestHead("GET", target, self._headers.copy())
