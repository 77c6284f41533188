"""`RepeatedGet`: a client's next GET mostly differs in its target alone, so its headers need not be parsed again."""

from sampan.server.incoming import Incoming, Source

KNOWN_BLOCK_BYTES_MAX = 16 << 10
_VISIBLE = bytes(range(0x21, 0x7F))
_FRAMING = frozenset({"connection", "content-length", "expect", "transfer-encoding", "upgrade"})


class RepeatedGet:
    """The headers of a connection's last plain GET, as bytes and as read."""

    __slots__ = ("_block", "_headers")

    def __init__(self) -> None:
        self._block = b""
        self._headers: dict[str, str] = {}

    def remember(self, data: bytes, incoming: Incoming) -> None:
        """Keep the headers of a GET that the parser has read from `data`, if it is plain and alone in there."""
        line, _, block = data.partition(b"\r\n")
        plain = line.endswith(b" HTTP/1.1") and incoming.keep_alive and incoming.size == 0
        if (
            plain
            and len(block) <= KNOWN_BLOCK_BYTES_MAX
            and block.find(b"\r\n\r\n") == len(block) - 4
            and _FRAMING.isdisjoint(incoming.headers)
        ):
            self._block, self._headers = block, incoming.headers.copy()

    def read(self, data: bytes, connection: Source) -> Incoming | None:
        """A GET with exactly these headers, read without the parser; None when `data` is something else."""
        line, _, block = data.partition(b"\r\n")
        if not block or block != self._block or not line.endswith(b" HTTP/1.1"):
            return None
        raw_target = line[4:-9]
        if raw_target.translate(None, _VISIBLE):
            return None
        incoming = Incoming(connection)
        incoming.method = "GET"
        incoming.raw_target = raw_target
        incoming.headers = self._headers.copy()
        incoming.complete = True
        return incoming
