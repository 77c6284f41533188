"""Save a snapshot of an etcd whose name is only in /etc/hosts. The name server receives queries and sends no reply.

Run with `python -m tests.cli.silent_names DIRECTORY` in a private network and mount namespace.
"""

import socket
import subprocess
import sys
from pathlib import Path

from tests.storage.etcd.server import started

NAME = "etcd-of-a-test"


def main(directory: Path) -> int:
    """The exit code of `sampan snapshot save`."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for file, text in (("hosts", f"127.0.0.1 localhost {NAME}\n"), ("resolv.conf", "nameserver 127.0.0.1\n")):
        (directory / file).write_text(text)
        subprocess.run(["mount", "--bind", directory / file, Path("/etc") / file], check=True)
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 53))
        member = started(directory / "etcd")[0]
        try:
            member.call("kv/put", {"key": "L3JlZ2lzdHJ5L3BvZHMvYS9i", "value": "e30="})
            store = f"etcd:http://{NAME}:{member.port}"
            line = [sys.executable, "-m", "sampan", "snapshot", "save", str(directory / "file"), "--from", store]
            return subprocess.run(line, check=False).returncode
        finally:
            member.discard()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
