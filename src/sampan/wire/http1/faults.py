"""`Malformed`: bytes that are no HTTP/1.1 message, or more than one."""


class Malformed(Exception):
    """The connection cannot be used any further.

    `status` is the response that a server sends. `text` follows the phrase of the
    status: empty, or beginning with a colon, if Go's server adds a text. `reason` is for logs and for clients.
    """

    def __init__(self, reason: str, *, status: int = 400, text: str = "", first: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.text = text
        self.first = first
        """Beginning of a response that is malformed before the end of its head."""

    @property
    def too_large(self) -> bool:
        """True if the head is larger than the limit."""
        return self.status == 431
