"""`Handshakes`: counts the TLS handshakes of a server, for its metrics."""


class Handshakes:
    """TLS handshakes of a server."""

    def __init__(self) -> None:
        self.errors = 0
        """Number of connections that failed before their first request."""

    def failed(self) -> None:
        """Count a connection that failed before its first request."""
        self.errors += 1
