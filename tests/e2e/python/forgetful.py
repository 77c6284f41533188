"""The forgetful server as a separate process, and the signals that make it forget."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.server import Server, running
from tests.e2e.conftest import Api
from tests.e2e.python.objects import config_map

COMPACTIONS = 2
"""The compactor goes to the revision of one interval ago."""


@dataclass
class Forgetful:
    """A server that makes its history unreadable when `forget` is called."""

    server: Server
    api: Api

    def forget(self) -> None:
        """Make what has happened to the ConfigMaps so far history that can no longer be read.

        Creates two ConfigMaps in the namespace `default`: a watch cache keeps the last event whatever its age.
        """
        for _ in range(2):
            body = {**config_map(""), "metadata": {"generateName": "later-"}}
            self.api.create("/api/v1/namespaces/default/configmaps", body)
        stdout = self.server.process.stdout
        assert stdout is not None
        for _ in range(COMPACTIONS):
            self.server.process.send_signal(signal.SIGUSR1)
            assert any(line == "compacted\n" for line in stdout)


@contextmanager
def forgetting(data: Path) -> Iterator[Forgetful]:
    """A forgetful server until the end of the block."""
    with running(data, "--storage", "memory", module="tests.e2e.python.forgetful_up") as server:
        api = Api(server)
        try:
            yield Forgetful(server, api)
        finally:
            api.close()
