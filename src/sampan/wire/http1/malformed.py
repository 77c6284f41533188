"""`Malformed`: bytes that are not an HTTP/1.1 message, or that can be read as different messages."""


class Malformed(Exception):
    """The connection cannot be used any further.

    `status` is the response that a server sends. `text` follows the phrase of the status. It is empty, or begins with a
    colon if Go's server adds a text. `reason` is for logs and for clients.
    """

    def __init__(self, reason: str, *, status: int = 400, text: str = "", first: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.text = text
        self.first = first
        """First bytes of a response whose head is malformed; else empty."""

    @property
    def too_large(self) -> bool:
        """True if the head is larger than the limit."""
        return self.status == 431
