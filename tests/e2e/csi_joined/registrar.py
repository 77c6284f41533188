"""Registers a driver that does not register itself, as node-driver-registrar does."""

import sys
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
    running = server(
        REGISTRATION, {"Registration": Registration(settings)}, Calls(directory), settings.registration_socket
    )
    running.wait_for_termination()


if __name__ == "__main__":
    main()
