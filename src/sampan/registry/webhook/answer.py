"""`Answer`: an HTTP response of a webhook as it comes in, and what it means.

Source: client-go rest/request.go (1.36).
"""

import httptools

from sampan.core.field import quote

ANSWER_SIZE_BYTES_MAX = 32 << 20
_SHOWN_BYTES_MAX = 2048


class WebhookError(Exception):
    """A webhook could not be asked, or gave no answer that counts. The text is for the client."""


class Answer:
    """An HTTP response as it comes in."""

    def __init__(self) -> None:
        self.complete = False
        self.begun = False
        """Whether any byte has come."""
        self._status = 0
        self._chunks: list[bytes] = []
        self._size_bytes = 0
        self._until_close = True
        self._keeps_connection = False
        self._parser = httptools.HttpResponseParser(self)

    @property
    def keeps_connection(self) -> bool:
        """Whether another request may follow on the same connection."""
        return self._keeps_connection

    def feed(self, data: bytes) -> None:
        """Bytes of the response. Raises `WebhookError` when there are too many."""
        self.begun = True
        self._parser.feed_data(data)
        if self._size_bytes > ANSWER_SIZE_BYTES_MAX:
            raise WebhookError(f"the answer is larger than {ANSWER_SIZE_BYTES_MAX} bytes")

    def end(self) -> None:
        """The connection has ended; that is the end of a body whose length was not said. Raises `WebhookError`."""
        if not self._status or not self._until_close:
            raise WebhookError("unexpected EOF")

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self._until_close = False

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._size_bytes += len(body)
        if self._size_bytes <= ANSWER_SIZE_BYTES_MAX:
            self._chunks.append(body)

    def on_message_complete(self) -> None:
        self.complete = self._status >= 200
        self._keeps_connection = self.complete and not self._until_close and self._parser.should_keep_alive()

    def checked(self) -> bytes:
        """The body of a good answer. Raises `WebhookError`; a redirect is not followed."""
        body, status = b"".join(self._chunks), self._status
        if 200 <= status < 300:
            return body
        if status == 404:
            raise WebhookError("the server could not find the requested resource")
        if status >= 500:
            shown = body[:_SHOWN_BYTES_MAX].decode("utf-8", "replace").strip() or "unknown"
            raise WebhookError(f"an error on the server ({quote(shown)}) has prevented the request from succeeding")
        raise WebhookError(f"the server rejected our request for an unknown reason (status {status})")
