"""Errors of HTTP clients. Errors of the Kubernetes API are in `client/errors.py`."""


class ClientError(Exception):
    """Base class of all errors of `sampan.client`."""


class TransportError(ClientError):
    """Failure before the whole response has arrived. `sent` is False if the server certainly did not receive the
    request.

    `__cause__` is the underlying error: an `OSError`, a `Malformed` response, or an `EOFError` if the server closed the
    connection.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class TransportTimeout(TransportError):
    """Response that did not arrive in time."""


class BodyTooLarge(TransportError):
    """Response with a body larger than `HttpSettings.body_bytes_max`."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than {limit} bytes", sent=True)
