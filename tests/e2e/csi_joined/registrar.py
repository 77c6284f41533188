"""Registers a driver that does not register itself, as node-driver-registrar does."""

import sys
import threading
from pathlib import Path

from sampan.csi.messages import REGISTRATION
from tests.e2e.csi.driver import Calls, Registration, server
from tests.e2e.csi.settings import Settings


def main() -> None:
    """Serve the registration of `NAME SOCKET REGISTRY` until the process is killed."""
    name, socket, registry = sys.argv[1:]
    directory = Path(socket).parent
    settings = Settings(directory, Path(socket), Path(registry), name=name)
    assert settings.registration_socket is not None
    server(REGISTRATION, {"Registration": Registration(settings)}, Calls(directory), settings.registration_socket)
    threading.Event().wait()


if __name__ == "__main__":
    main()
