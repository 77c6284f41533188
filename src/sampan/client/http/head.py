"""`RequestHeads`: requests as bytes."""

from sampan.client.http.address import ServerAddress
from sampan.client.transport import HttpRequest

_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


class RequestHeads:
    """Writes request lines and header fields for one server."""

    def __init__(self, address: ServerAddress, *, absolute: bool, compression: bool, proxy_authorization: str) -> None:
        origin = f"{address.scheme}://{address.authority}" if absolute else ""
        self._before_target = origin + address.prefix
        self._after_target = f" HTTP/1.1\r\nhost: {address.authority}\r\n"
        self._always = "accept-encoding: gzip\r\n" if compression else ""
        if absolute and proxy_authorization:
            self._after_target += f"proxy-authorization: {proxy_authorization}\r\n"

    def build(self, request: HttpRequest) -> bytes:
        """The head with its empty line. Raises `ValueError` when the request cannot be written without harm."""
        target = request.target
        if not target.startswith("/") or not target.isascii() or not target.isprintable() or " " in target:
            raise ValueError(f"bad target {target!r}")
        lines = [request.method, " ", self._before_target, target, self._after_target]
        for name, value in request.headers.items():
            if "\n" in value:
                lines += [f"{name}: {single}\r\n" for single in value.split("\n")]
            else:
                lines.append(f"{name}: {value}\r\n")
        if self._always and "accept-encoding" not in request.headers:
            lines.append(self._always)
        if request.body or request.method in _BODY_METHODS:
            lines.append(f"content-length: {len(request.body)}\r\n")
        lines.append("\r\n")
        head = "".join(lines)
        if "\0" in head or head.count("\r") != head.count("\n") or head.count("\n") != head.count("\r\n"):
            raise ValueError("a header field holds a line break")
        # Names of users and groups need not be ASCII; Go writes and reads UTF-8.
        return head.encode()
