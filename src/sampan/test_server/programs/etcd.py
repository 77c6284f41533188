"""`etcd` for envtest: responds to /health. It stores nothing: the servers of `kube-apiserver` have their own stores.

Usage: python -I -S etcd.py ASSETS DIRECTORY PYTHON OPTIONS... SIGTERM ends it.
"""

import _signal  # type: ignore[import-not-found]  # has no types; `signal` takes 10 ms
import _socket
import posix
import sys

LOOK_S = 1.0
REQUEST_BYTES_MAX = 65536
DEFAULT_URL = "http://127.0.0.1:2379"
HELP = b"""etcd stand-in for tests, by Sampan: it only answers /health.
With SAMPAN_TEST_ETCD=real it runs the etcd on PATH.

Usage:
  --listen-client-urls URL   Address to listen on.
  --data-dir DIR             No effect, like all other options.
"""
BODY = b'{"health":"true","reason":""}'
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


def option(arguments: "list[str]", name: str, default: str) -> str:
    """Return the value of an option, given as `--name=value` or `--name value`."""
    for at, argument in enumerate(arguments):
        if argument.startswith(f"--{name}="):
            return argument.partition("=")[2]
        if argument == f"--{name}" and at + 1 < len(arguments):
            return arguments[at + 1]
    return default


def address_of(url: str) -> "tuple[str, int]":
    """Return host and port of a URL."""
    host, _, port = url.partition("://")[2].partition("/")[0].rpartition(":")
    if not port.isdigit():
        sys.exit(f"etcd: --listen-client-urls: {url!r} is not http://HOST:PORT")
    host = host.strip("[]")
    return ("127.0.0.1" if host in ("", "localhost") else host), int(port)


def listen(host: str, port: int) -> _socket.socket:
    """Return the listening socket."""
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    listener = _socket.socket(family, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        sys.exit(f"etcd: cannot listen on {host}:{port}: {error.strerror}")
    listener.listen(64)
    return listener


def respond(connection: _socket.socket) -> None:
    """Read one request and send the response."""
    connection.settimeout(LOOK_S)
    received = b""
    try:
        while b"\r\n\r\n" not in received and len(received) < REQUEST_BYTES_MAX:
            data = connection.recv(4096)
            if not data:
                break
            received += data
        connection.sendall(RESPONSE)
    except OSError:
        pass
    connection.close()


def start_parent(directory: str, python: str) -> None:
    """Start the warm parent for the kube-apiserver that follows. A second parent ends at once."""
    arguments = [python, "-m", "sampan.cli.test_server.warm", directory]
    actions = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in range(3)]
    posix.posix_spawn(python, arguments, posix.environ, file_actions=actions, setsid=True)


def exists(path: str) -> bool:
    """Return True if the file exists."""
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def real(arguments: "list[str]") -> None:
    """Replace this process by the etcd on PATH. Skip the assets' own etcd, which may be on PATH too."""
    own = posix.environ.get(b"SAMPAN_TEST_ASSETS", b"").decode()
    for directory in posix.environ.get(b"PATH", b"").decode("utf-8", "surrogateescape").split(":"):
        if directory and directory.rstrip("/") != own.rstrip("/"):
            try:
                posix.execve(f"{directory}/etcd", ["etcd", *arguments], posix.environ)
            except OSError:
                continue
    sys.exit("etcd: SAMPAN_TEST_ETCD=real needs an etcd on PATH; unset the variable, or install etcd")


def main(assets: str, directory: str, python: str, *given: str) -> int:
    """Run the program. Return its exit code."""
    arguments = list(given)
    if posix.environ.get(b"SAMPAN_TEST_ETCD") == b"real":
        posix.environ[b"SAMPAN_TEST_ASSETS"] = assets.encode("utf-8", "surrogateescape")
        real(arguments)
    if "--help" in arguments or "-h" in arguments:
        posix.write(1, HELP)
        return 0
    if "--version" in arguments:
        posix.write(1, b"etcd Version: 3.6.0\n")
        return 0
    url = option(arguments, "listen-client-urls", DEFAULT_URL).split(",")[0]
    _signal.signal(_signal.SIGTERM, lambda number, frame: posix._exit(0))
    if not exists(f"{directory}/socket"):
        start_parent(directory, python)
    listener, parent = listen(*address_of(url)), posix.getppid()
    listener.settimeout(LOOK_S)
    while posix.getppid() == parent:
        try:
            descriptor, _ = listener._accept()  # type: ignore[attr-defined]  # has no types; `socket` takes 15 ms
        except TimeoutError:
            continue
        respond(_socket.socket(fileno=descriptor))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
