"""Errors of HTTP clients. `client/errors.py` has those of Kubernetes' API."""


class ClientError(Exception):
    """The root of all errors of `sampan.client`."""


class TransportError(ClientError):
    """There was no whole response. `sent` is False if the server has certainly not received the request.

    `__cause__` is the error below: an `OSError`, a `Malformed` response, or an `EOFError` for a connection that the
    server closed.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class TransportTimeout(TransportError):
    """The response did not arrive in time."""


class BodyTooLarge(TransportError):
    """The body of the response is larger than `HttpSettings.body_bytes_max`."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than {limit} bytes", sent=True)
