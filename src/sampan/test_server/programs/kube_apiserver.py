"""`kube-apiserver` for envtest: orders a server from the warm parent, and lives as long as that server.

Usage: python -I -S kube_apiserver.py DIRECTORY PYTHON OPTIONS... SIGTERM ends the server. The messages are described in
`sampan.test_server.protocol`.
"""

import _signal  # type: ignore[import-not-found]  # has no types; `signal` takes 10 ms
import _socket
import posix
import sys
import time

RETRY_S = 0.01
TRIES = 6000
LOOK_S = 1.0
"""Interval of checks that the parent process, usually a test, is still alive."""
HELP = b"""Kubernetes API server for tests, by Sampan.

Usage:
  kube-apiserver [options of kube-apiserver]

It has the options of `sampan up`. Options that it does not know have no effect. Environment:
  SAMPAN_TEST_LOOPS  control loops: gc,namespace (default), none, all, chain, or controllers
  SAMPAN_TEST_ETCD   real: store objects in the etcd at --etcd-servers
  SAMPAN_TEST_PLAN   file with faults, see docs/testing-any-language.md
"""


def environment(name: bytes, default: bytes = b"") -> bytes:
    """Return a variable of the environment."""
    return posix.environ.get(name, default)


def start_parent(directory: str, python: str) -> None:
    """Start the warm parent. If there is one already, the new one ends at once."""
    arguments = [python, "-m", "sampan.cli.test_server.warm", directory]
    actions = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in range(3)]
    posix.posix_spawn(python, arguments, posix.environ, file_actions=actions, setsid=True)


def order(arguments: "list[str]") -> bytes:
    """Return the message that orders a server. Unless an option changes this, it serves only APIs of Kubernetes."""
    storage = b"etcd" if environment(b"SAMPAN_TEST_ETCD") == b"real" else b"memory"
    loops = environment(b"SAMPAN_TEST_LOOPS") or b"gc,namespace"
    given = [b"--extra-apis=false", *(argument.encode("utf-8", "surrogateescape") for argument in arguments)]
    content = b"\0".join([posix.getcwdb(), loops, environment(b"SAMPAN_TEST_PLAN"), storage, *given])
    return b"%08d%b" % (len(content), content)


def ordered(directory: str, python: str, message: bytes) -> _socket.socket:
    """Return the connection to a server that is starting. Start the parent if there is none."""
    spawned = False
    for _ in range(TRIES):
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            check_owner(directory)
            connection.connect(directory + "/socket")
            descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
            sent = connection.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
            connection.sendall(message[sent:])
            if connection.recv(8) == b"started\n":
                return connection
            spawned = False  # that parent has ended: it was out of date or idle for too long
        except OSError:
            pass
        connection.close()
        if not spawned:
            start_parent(directory, python)
            spawned = True
        time.sleep(RETRY_S)
    sys.exit(f"kube-apiserver: no server has started; see {directory}/log")


def check_owner(directory: str) -> None:
    """Exit if another user could take the place of the warm parent."""
    found = posix.lstat(directory)
    if found.st_uid != posix.getuid() or found.st_mode & 0o077:
        sys.exit(f"kube-apiserver: {directory} must be a directory that only you may use: remove it")


def follow(connection: _socket.socket) -> int:
    """Return the exit code of the server.

    Ends it on SIGTERM and SIGINT, and when this program's parent process dies.
    """

    def stop(number: int, frame: object) -> None:
        connection.sendall(b"stop\n")

    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, stop)
    parent, received = posix.getppid(), b""
    connection.settimeout(LOOK_S)
    while True:
        try:
            data = connection.recv(4096)
        except TimeoutError:
            if posix.getppid() != parent:
                return 1
            continue
        if not data:
            break
        received += data
        if b"crash\n" in received:  # there is no operator to kill: only the response is lost
            received = received.replace(b"crash\n", b"")
            connection.sendall(b"killed\n")
    last = received.rstrip().rpartition(b"\n")[2]
    return int(last[5:]) if last.startswith(b"exit ") else 1


def main(directory: str, python: str, *arguments: str) -> int:
    """Run the program. Return its exit code."""
    if "--help" in arguments or "-h" in arguments:
        posix.write(1, HELP)
        return 0
    if "--version" in arguments:
        posix.write(1, b"Kubernetes v1.36.0\n")
        return 0
    return follow(ordered(directory, python, order(list(arguments))))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
